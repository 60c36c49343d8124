import { createWorld, type World } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { listEvents } from '../events/index.ts';
import { getMessage, listMessages } from '../messages/index.ts';
import { invoke } from '../operation/operation.ts';
import { createWebhook } from '../webhooks/index.ts';
import { maintainStorage } from './maintain.ts';
import { extendPartitions } from './store.ts';

const DAY_MS = 86_400_000;
const PARENTS = ['messages', 'message_tags', 'bodies', 'recipients', 'attempts', 'events', 'webhook_deliveries'];
const WEEKLY = ['bodies'];

let world: World;
beforeEach(async () => {
  world = await createWorld();
  await invoke(world.as(world.workspace_id), createWebhook, { url: 'http://127.0.0.1:9099/' });
});
afterEach(() => world.stop());

async function send(): Promise<string> {
  const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi', tags: ['welcome'] };
  return (await invoke(world.as(world.workspace_id), sendMessage, mail)).id;
}

/** Returns the partition of each table that contains rows of a message, as months or 'default'. */
async function homesOf(message_id: string): Promise<Record<string, string>> {
  const homes: Record<string, string> = {};
  for (const parent of PARENTS) {
    const { sql } = world.services;
    const rows = await sql<{ home: string }[]>`
      select distinct replace(tableoid::regclass::text, ${`${parent}_`}, '') as home
      from ${sql(parent)}
      where ${
        parent === 'webhook_deliveries'
          ? sql`event_id in (select id from events where message_id = ${message_id})`
          : sql`${sql(parent === 'messages' ? 'id' : 'message_id')} = ${message_id}`
      }`;
    homes[parent] = rows.map(({ home }) => home).join();
  }
  return homes;
}

const allTablesIn = (home: string) =>
  Object.fromEntries(
    PARENTS.map((parent) => [parent, home !== 'default' && WEEKLY.includes(parent) ? thisWeek() : home]),
  );
const thisMonth = () => new Date(world.clock.now()).toISOString().slice(0, 7).replace('-', '');
/** Returns the Monday of the current week. */
function thisWeek(): string {
  const now = world.clock.now();
  const days_since = (new Date(now).getUTCDay() + 6) % 7;
  return new Date(now - days_since * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
}

describe('storage maintenance 130 days later', () => {
  it('moves rows out of the default partition, and keeps them readable', async () => {
    await world.clock.advance(130 * DAY_MS);
    const id = await send();
    await world.drain();
    const ctx = world.as(world.workspace_id);
    const before = [await invoke(ctx, getMessage, { id }), await invoke(ctx, listEvents, {})];
    expect(await homesOf(id)).toEqual(allTablesIn('default'));

    await maintainStorage(world.services);

    expect(await homesOf(id)).toEqual(allTablesIn(thisMonth()));
    expect([await invoke(ctx, getMessage, { id }), await invoke(ctx, listEvents, {})]).toEqual(before);
    expect((await invoke(ctx, listMessages, { tag: 'welcome' })).data).toMatchObject([{ id, status: 'delivered' }]);
  });

  it('creates partitions with the same indexes, compression and constraints as the originals', async () => {
    await world.clock.advance(130 * DAY_MS);
    await send();
    await maintainStorage(world.services);

    const shapes = await world.services.sql<{ parent: string; shapes: number; partitions: number }[]>`
      select parent, count(distinct shape)::int as shapes, count(*)::int as partitions
      from (
        select i.inhparent::regclass::text as parent, (
          select jsonb_build_array(
            (select jsonb_agg(jsonb_build_array(a.attname, a.atttypid, a.attnotnull, a.attcompression, a.attcollation)
              order by a.attnum) from pg_attribute a where a.attrelid = i.inhrelid and a.attnum > 0),
            (select jsonb_agg(h.inhparent::regclass::text order by h.inhparent::regclass::text)
              from pg_index x left join pg_inherits h on h.inhrelid = x.indexrelid where x.indrelid = i.inhrelid))
        ) as shape
        from pg_inherits i
        where i.inhparent::regclass::text = any (${PARENTS})
      ) as partitions group by parent`;

    expect(shapes).toHaveLength(PARENTS.length);
    for (const { parent, shapes: count, partitions } of shapes) {
      expect(count).toBe(1);
      // The default, four around the migration and four around today; old webhook deliveries have been deleted.
      if (parent === 'webhook_deliveries') expect(partitions).toBeLessThan(9);
      else expect(partitions).toBe(9);
    }
  });

  it('allows a month of attempts and webhook deliveries to be dropped manually', async () => {
    const { sql } = world.services;
    const id = await send();
    await world.drain();
    const ctx = world.as(world.workspace_id);
    expect((await invoke(ctx, getMessage, { id })).attempts).toHaveLength(1);

    await sql`drop table ${sql(`attempts_${thisMonth()}`)}, ${sql(`webhook_deliveries_${thisMonth()}`)}`;

    expect(await invoke(ctx, getMessage, { id })).toMatchObject({ status: 'delivered', attempts: [] });
    await maintainStorage(world.services);
    const second = await send();
    await world.drain();
    expect(await homesOf(second)).toEqual(allTablesIn(thisMonth()));
  });

  it('runs alongside sends, deliveries and a second maintenance process', async () => {
    await world.clock.advance(130 * DAY_MS);
    const peer = await world.peer();
    await Promise.all(Array.from({ length: 10 }, send));

    const [sent] = await Promise.all([
      Promise.all(Array.from({ length: 40 }, send)),
      maintainStorage(world.services),
      maintainStorage(peer),
      world.drain(),
    ]);
    await world.drain();

    for (const id of sent) expect(await homesOf(id)).toEqual(allTablesIn(thisMonth()));
    const rows = await world.services.sql`select status, count(*)::int from messages group by status`;
    expect(rows).toEqual([{ status: 'delivered', count: 50 }]);
  });
});

describe('a failing maintenance task', () => {
  it('does not stop other tasks, and every failure is reported at the end', async () => {
    await world.clock.advance(130 * DAY_MS);
    await world.services.sql`
      insert into rate_windows values (derived_id('key', no_id(), 'old'), 'send', clock_now() - interval '1 hour', 1)`;
    const reader = await world.services.sql.reserve();
    // A dump holds this lock for its entire run.
    await reader`begin`;
    await reader`lock table messages in access share mode`;

    const run = maintainStorage(world.services);

    await expect(run).rejects.toThrow(/^storage maintenance: partitions: canceling statement due to lock timeout$/);
    await expect(run).rejects.toBeInstanceOf(AggregateError);
    expect(await world.services.sql`select from rate_windows`).toHaveLength(0);
    const [tables] = await world.services.sql`
      select to_regclass(${`messages_${thisMonth()}`}) as messages, to_regclass(${`events_${thisMonth()}`}) as events`;
    expect(tables).toEqual({ messages: null, events: `events_${thisMonth()}` });

    await reader`commit`;
    reader.release();
    const id = await send();
    await extendPartitions(world.services.sql);
    expect(await homesOf(id)).toMatchObject({ messages: thisMonth(), bodies: thisWeek() });
  });
});
