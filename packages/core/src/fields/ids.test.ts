import { randomBytes } from 'node:crypto';
import {
  connect,
  type IdKind,
  idKindOf,
  idOfUuid,
  idPrefixes,
  isId,
  kindNumbers,
  type Sql,
  uuidOfId,
} from '@postrider/db';
import { createDatabase, type TestDatabase } from '@postrider/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from './ids.ts';

let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await createDatabase();
  sql = connect(database.url, { max: 1, application_name: 'postrider-test' });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

const kinds = Object.keys(idPrefixes).filter((kind): kind is IdKind => kind in idPrefixes);
const anyId = fc
  .tuple(fc.constantFrom(...kinds), fc.nat({ max: 2 ** 42 }))
  .map(([kind, now_ms]) => ({ kind, id: newId(kind, now_ms) }));

function hyphened(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

describe('an id', () => {
  it('is read from the database unchanged, both alone and in arrays', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyId, { minLength: 1 }), async (items) => {
        const ids = items.map(({ id }) => id);
        const [row] = await sql<{ one: string; all: string[]; text: string; bare: string; found: boolean }[]>`
          select ${ids[0] ?? ''}::uuid as one, ${ids}::uuid[] as all, id_text(${ids[0] ?? ''}::uuid) as text,
            id_of(${ids[0] ?? ''}::text)::text as bare, id_of(${ids[0] ?? ''}::text) = ${ids[0] ?? ''}::uuid as found`;
        expect(row).toEqual({
          one: ids[0],
          all: ids,
          text: ids[0],
          bare: uuidOfId(ids[0] ?? ''),
          found: true,
        });
      }),
      { numRuns: 60 },
    );
  });

  it('sorts in the same order as a uuid and as text', () => {
    fc.assert(
      fc.property(fc.array(anyId), (items) => {
        const ids = items.map(({ id }) => id.slice(4));
        const by_uuid = items.toSorted((a, b) => (uuidOfId(a.id) < uuidOfId(b.id) ? -1 : 1));
        expect(by_uuid.map(({ id }) => id.slice(4))).toEqual(ids.toSorted());
      }),
    );
  });

  it('contains its kind as a prefix, and is invalid with any other prefix', () => {
    fc.assert(
      fc.property(anyId, fc.constantFrom(...kinds), ({ kind, id }, other) => {
        expect(isId(kind, id)).toBe(true);
        expect(idKindOf(id)).toBe(id.slice(0, 3));
        fc.pre(other !== kind && other !== 'job');
        const renamed = idPrefixes[other] + id.slice(4);
        expect(isId(other, renamed)).toBe(false);
        expect(idOfUuid(uuidOfId(renamed))).not.toBe(id);
      }),
    );
  });

  it('has the same kind number in the code and in the database', async () => {
    const [row] = await sql<{ kinds: string[] }[]>`select id_kinds() as kinds`;

    expect(row?.kinds.map((kind, index) => [`${kind}_`, index + 1])).toEqual(
      kinds.map((kind) => [idPrefixes[kind], kindNumbers[kind]]),
    );
  });

  it('keeps its source’s time when derived, and is the same when derived again', async () => {
    const event = newId('event', 1_700_000_000_000);
    const [row] = await sql<{ one: string; again: string; other: string }[]>`
      select derived_id('whd', ${event}::uuid, 'a') as one, derived_id('whd', ${event}::uuid, 'a') as again,
        derived_id('whd', ${event}::uuid, 'b') as other`;

    expect(row?.one).toBe(row?.again);
    expect(row?.one).not.toBe(row?.other);
    expect(isId('webhook_delivery', row?.one ?? '')).toBe(true);
    expect(row?.one.slice(4, 14)).toBe(event.slice(4, 14));
  });
});

describe('uuid conversion', () => {
  it('leaves a lease or job uuid unchanged', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => {
      const bytes = randomBytes(16);
      bytes[6] = (index % 2 ? 0x40 : 0x70) | ((bytes[6] ?? 0) & 15);
      bytes[8] = 0x80 | ((bytes[8] ?? 0) & 63);
      return hyphened(bytes.toString('hex'));
    });

    const [row] = await sql<{ ids: string[] }[]>`select ${ids}::uuid[] as ids`;

    expect(row?.ids).toEqual(ids);
  });

  it('maps the nil uuid to empty text, and invalid text to a uuid that sorts last', async () => {
    const [row] = await sql`
      select no_id() as none, ${''}::uuid = no_id() as empty, ${'nonsense'}::uuid as unknown,
        ${newId('event', Date.UTC(2400))}::uuid < ${'msg_zzzzzzzzzzzzzzzzzzzzzzzzzz'}::uuid as greater`;

    expect(row).toEqual({ none: '', empty: true, unknown: 'ffffffff-ffff-ffff-ffff-ffffffffffff', greater: true });
  });

  it('puts the next uuid after an id, and a bound at the lowest uuid of its time', async () => {
    const id = newId('event', 1_700_000_000_000);
    const [row] = await sql`
      select ${`${id}!`}::uuid > ${id}::uuid as behind, ${id.slice(0, 14)}::uuid = id_floor(to_timestamp(1700000000)) as least,
        ${id.slice(0, 14)}::uuid < ${id}::uuid as below`;

    expect(row).toEqual({ behind: true, least: true, below: true });
  });
});
