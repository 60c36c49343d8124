import { connect, type Sql } from '@postrider/db';
import { createWorld, type World } from '@postrider/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Services } from '../context.ts';
import { newId } from '../ids.ts';
import { invoke } from '../operation.ts';
import { createWebhook } from './create-webhook.ts';
import type { EndpointRoom } from './delivery-store.ts';
import { claimPosts, settlePosts } from './post.ts';
import { beginVisits } from './visits.ts';

// A prepared statement keeps the plan that was made for it, and the first ones are made when nothing is owed yet.

const GROWN = 20_000;
const OWED = 10;

let world: World;
let own: Sql;
let services: Services;
beforeEach(async () => {
  world = await createWorld();
  own = connect(world.database_url, { max: 1, application_name: 'plans-test' });
  services = { ...world.services, sql: own };
});
afterEach(async () => {
  await own.end();
  await world.stop();
});

async function owe(): Promise<void> {
  const ids = Array.from({ length: OWED }, () => newId('event', world.clock.now()));
  await world.services.sql`insert into events (workspace_id, id, type, sequence, facts, created_at)
    select ${world.workspace_id}, id, 'email.queued', 1, '{}', clock_now() from unnest(${ids}::text[]) as a (id)`;
}

/** Claims what is owed, and records that it was taken. */
async function post(room: EndpointRoom): Promise<number> {
  await owe();
  const { posts } = await claimPosts(services, [room]);
  const outcome = { kind: 'answered', status: 200, retry_after: null, text: '' } as const;
  await settlePosts(
    services,
    posts.map(({ row, lease }) => ({ row, lease, outcome })),
  );
  return posts.length;
}

/** Many more deliveries of the endpoint, all of them open and due tomorrow. */
async function grow(): Promise<void> {
  await own`
    insert into webhook_deliveries select copy.* from (select * from webhook_deliveries limit 1) d,
      generate_series(1, ${GROWN}) n, jsonb_populate_record(null::webhook_deliveries, to_jsonb(d) || jsonb_build_object(
        'id', d.id || n, 'state', 'pending', 'next_attempt_at', clock_now() + interval '1 day')) copy`;
}

/** Rows and entries of indexes that have been read of deliveries and events. */
async function rowsRead(): Promise<number> {
  const tables = '^(webhook_deliveries|events)_';
  await own`select pg_stat_force_next_flush()`;
  const [row] = await own<{ count: number }[]>`
    select (
      (select coalesce(sum(idx_tup_read), 0) from pg_stat_user_indexes where relname ~ ${tables})
      + (select coalesce(sum(seq_tup_read), 0) from pg_stat_user_tables where relname ~ ${tables})
    )::int8 as count`;
  return row?.count ?? 0;
}

it.each(['vacuumed', 'never analysed'])(
  'claims and settles by steps of an index, whatever has grown since its plans were made, %s',
  async (made) => {
    const partitions = await own<{ name: string }[]>`
      select inhrelid::regclass::text as name from pg_inherits
      where inhparent = any ('{webhook_deliveries,events}'::regclass[])`;
    for (const { name } of partitions) {
      await own`alter table ${own(name)} set (autovacuum_enabled = false)`;
      if (made === 'vacuumed') await own`vacuum analyze ${own(name)}`;
    }
    await invoke(world.as(world.workspace_id), createWebhook, { url: 'http://127.0.0.1:9999/hook' });
    await owe();
    const { visits } = await beginVisits(services, await services.jobs.fetch('webhook.deliver', 1), []);
    const [visit] = visits;
    if (!visit) throw new Error('nobody was called to the endpoint');
    const room = { webhook_id: visit.webhook_id, holder: visit.holder, count: 2 * OWED };
    await post(room);
    await grow();
    const before = await rowsRead();

    const posted = await post(room);

    expect(posted).toBe(OWED);
    expect((await rowsRead()) - before).toBeLessThan(GROWN / 4);
  },
);
