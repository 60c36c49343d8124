import { createDatabase, type TestDatabase } from '@postrider/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect } from './connect.ts';
import { fitsRecord, recordsIn, recordTexts } from './records.ts';
import type { Sql } from './sql.ts';

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

const field = fc.option(
  fc.string({ unit: 'binary' }).filter((text) => fitsRecord(text) && !text.includes('\0')),
  { nil: null },
);

it('rows are restored exactly, whatever their text contains', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(field, field, fc.integer())), async (rows) => {
      const back = await sql<{ a: string | null; b: string | null; c: number }[]>`
        select a, b, c::int from ${recordsIn(sql, recordTexts(rows), ['a', 'b', 'c'])} as r`;
      expect(back.map(({ a, b, c }) => [a, b, c])).toEqual(rows);
    }),
    { numRuns: 50 },
  );
});

it('lists are restored exactly', async () => {
  const list = fc.array(
    fc.string({ unit: 'binary', minLength: 1 }).filter((text) => fitsRecord(text) && !text.includes('\0')),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(field, list), { minLength: 1 }), async (rows) => {
      const back = await sql<{ a: string | null; items: string[] }[]>`
        select a, items from ${recordsIn(sql, recordTexts(rows), ['a', 'items[]'])} as r`;
      expect(back.map(({ a, items }) => [a, items])).toEqual(rows);
    }),
    { numRuns: 50 },
  );
});

it.each(['\x1a', 'a\x1eb', '\x1f', '\x1d', `${'long '.repeat(50)}\x1e`])(
  'text that would be parsed as an additional row or field is rejected: %j',
  (text) => {
    expect(fitsRecord(text)).toBe(false);
    expect(() => recordTexts([['fine', text]])).toThrow('separator');
    expect(() => recordTexts([['fine', ['fine', text]]])).toThrow('separator');
    expect(() => recordTexts([['fine', [text]]])).toThrow('separator');
  },
);
