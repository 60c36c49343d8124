import { sqlState } from '@postrider/db';
import { createWorld, type World } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { listMessages } from '../messages/index.ts';
import { invoke } from '../operation/operation.ts';
import { oldestKept } from '../operation/retention.ts';
import { dropExpired } from './drop-expired.ts';
import { maintainStorage } from './maintain.ts';
import { dropPast } from './retention-store.ts';
import { extendPartitions } from './store.ts';

const DAY_MS = 86_400_000;

let world: World;
beforeEach(async () => {
  world = await createWorld({ RETENTION_MESSAGES: '20d', RETENTION_BODIES: '5d', RETENTION_EVENTS: '10d' });
  // A Wednesday in the middle of a month.
  await world.clock.freeze(new Date('2030-05-15T12:00:00Z'));
  await maintainStorage(world.services);
});
afterEach(() => world.stop());

async function send(extra: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
  const { id } = await invoke(world.as(world.workspace_id), sendMessage, { ...mail, ...extra });
  await world.drain();
  return id;
}

const pastMail = () => oldestKept(world.services, 'messages', 'message');
const LATER = { scheduled_at: '2030-08-01T00:00:00Z' };

describe('a partition locked by a reader', () => {
  it('fails to be dropped within the lock timeout, and is dropped once the reader finishes', async () => {
    const { sql } = world.services;
    await send();
    await world.clock.advance(40 * DAY_MS);
    await extendPartitions(sql);
    const fresh = await send();
    const reader = await sql.reserve();
    await reader`begin`;
    await reader`lock table messages in access share mode`;

    const error = await dropPast(sql, 'messages', 'messages_203005', pastMail()).catch(sqlState);
    const run = dropExpired(world.services);
    const second = await send();
    await reader`commit`;
    reader.release();
    await run;

    // lock_not_available
    expect(error).toBe('55P03');
    const { data } = await invoke(world.as(world.workspace_id), listMessages, {});
    expect(data.map(({ id }) => id)).toEqual([second, fresh].toSorted().toReversed());
    expect(await sql`select to_regclass('messages_203005')::text as name`).toEqual([{ name: null }]);
  });
});

describe('a partition with more live data than one run can move', () => {
  it('is kept, and its size in bytes is logged', async () => {
    const id = await send(LATER);
    await world.services.sql`
      update bodies set html = (select string_agg(md5(n::text), '') from generate_series(1, 1100000) n)
      where message_id = ${id}`;
    await world.clock.advance(40 * DAY_MS);

    await dropExpired(world.services);

    const warned = world.logged.filter(({ partition }) => partition === 'bodies_20300513');
    expect(warned).toMatchObject([{ level: 40, msg: expect.stringContaining('bytes') }]);
    expect(Number(warned[0]?.amount)).toBeGreaterThan(32 * 1024 * 1024);
    const [home] = await world.services.sql`select tableoid::regclass::text as home from bodies`;
    expect(home).toEqual({ home: 'bodies_20300513' });
  });

  it('is kept if it has more than 5,000 open emails, of which 5,000 are moved', async () => {
    const { sql } = world.services;
    const id = await send(LATER);
    const add = (from: number, to: number) => sql`
      insert into recipients (workspace_id, message_id, id, email, domain, kind, state, due_at)
      select workspace_id, derived_id('msg', message_id, n::text), id, email, domain, kind, state, due_at
      from recipients, generate_series(${from}::int, ${to}::int) n where message_id = ${id}`;
    await add(1, 5000);
    await world.clock.advance(60 * DAY_MS);
    expect(await dropPast(sql, 'recipients', 'recipients_203005', pastMail())).toEqual({
      outcome: 'mails',
      amount: 5001,
    });

    await sql`delete from recipients where message_id = ${id}`;
    const dropped = await dropPast(sql, 'recipients', 'recipients_203005', pastMail());

    expect(dropped).toEqual({ outcome: 'dropped', amount: 5000 });
    expect(await sql`select count(*)::int as moved from recipients_default`).toEqual([{ moved: 5000 }]);
  });
});

describe('attempts younger than their retention period', () => {
  it('are kept when their email’s month is dropped', async () => {
    const { sql } = world.services;
    await send();
    const late_id = await send({ scheduled_at: '2030-06-03T12:00:00Z' });
    await world.clock.freeze(new Date('2030-06-03T12:00:01Z'));
    await world.drain();
    await world.clock.freeze(new Date('2030-06-12T12:00:00Z'));

    await dropExpired(world.services);

    expect(await sql`select message_id, tableoid::regclass::text as home from attempts`).toEqual([
      { message_id: late_id, home: 'attempts_default' },
    ]);
  });
});

describe('many rows in a default partition', () => {
  it('are deleted from every page once they are past their retention period', async () => {
    const { sql } = world.services;
    const id = await send();
    await sql`
      insert into attempts_default (workspace_id, message_id, id, recipient_id, number, outcome, stage, target, phases_ms,
        started_at, finished_at)
      select workspace_id, id_floor('2029-01-01Z'), derived_id('att', id_floor(clock_now() - n * interval '3 minutes'), n::text),
        recipient_id, number, outcome, stage, target, phases_ms, started_at, finished_at
      from attempts, generate_series(1, 9600) n where message_id = ${id}`;

    await dropExpired(world.services);

    expect(await sql`select count(*)::int as kept from attempts_default`).toEqual([{ kept: 4800 }]);
  });
});
