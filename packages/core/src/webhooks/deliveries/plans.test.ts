import type { Sql } from '@postrider/db';
import { createWorld, emptyTables, type PlanWatch, type World, watchPlans } from '@postrider/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newId } from '../../fields/ids.ts';
import type { Services } from '../../operation/context.ts';
import { invoke } from '../../operation/operation.ts';
import { createWebhook } from '../endpoints/create-webhook.ts';
import { takeEndpointLeases } from '../posting/leases.ts';
import { claimPosts, settlePosts } from '../posting/post.ts';
import type { ClaimQuota } from './delivery-store.ts';

const GROWN = 20_000;
const OWED = 10;

let world: World;
let plans: PlanWatch;
let own: Sql;
let services: Services;
beforeEach(async () => {
  world = await createWorld();
  plans = watchPlans(world.database_url, ['webhook_deliveries', 'events']);
  own = plans.sql;
  services = { ...world.services, sql: own };
});
afterEach(async () => {
  await plans.stop();
  await world.stop();
});

async function owe(): Promise<void> {
  const ids = Array.from({ length: OWED }, () => newId('event', world.clock.now()));
  await world.services.sql`insert into events (workspace_id, id, type, sequence, facts, created_at)
    select ${world.workspace_id}, id, 'email.queued', 1, '{}', clock_now() from unnest(${ids}::uuid[]) as a (id)`;
}

/** Claims due deliveries and records successes. */
async function post(quota: ClaimQuota): Promise<number> {
  await owe();
  const { posts } = await claimPosts(services, [quota]);
  const outcome = { kind: 'answered', status: 200, retry_after: null, headers: {}, text: '' } as const;
  await settlePosts(
    services,
    posts.map(({ row, lease }) => ({ row, lease, outcome })),
  );
  return posts.length;
}

/** Adds many more open deliveries for the endpoint, due tomorrow. */
async function grow(): Promise<void> {
  await own`
    insert into webhook_deliveries select copy.* from (select * from webhook_deliveries limit 1) d,
      generate_series(1, ${GROWN}) n, jsonb_populate_record(null::webhook_deliveries, to_jsonb(d) || jsonb_build_object(
        'id', derived_id('whd', d.id, n::text), 'state', 'pending', 'next_attempt_at', clock_now() + interval '1 day')) copy`;
}

it.each(emptyTables)(
  'deliveries are claimed and settled by index, however much the table has grown since planning, %s',
  async (state) => {
    await plans.keepEmpty(state);
    await invoke(world.as(world.workspace_id), createWebhook, { url: 'http://127.0.0.1:9999/hook' });
    await owe();
    const { endpointLeases } = await takeEndpointLeases(services, await services.jobs.fetch('webhook.deliver', 1), []);
    const [endpointLease] = endpointLeases;
    if (!endpointLease) throw new Error('no job for the endpoint');
    const quota = { webhook_id: endpointLease.webhook_id, holder: endpointLease.holder, count: 2 * OWED };
    await post(quota);
    await grow();
    const before = await plans.rowsRead();

    const posted = await post(quota);

    expect(posted).toBe(OWED);
    expect((await plans.rowsRead()) - before).toBeLessThan(GROWN / 4);
  },
);
