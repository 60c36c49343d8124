import { createWorld, type World } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isoTime } from '../../fields/clock.ts';
import { newId } from '../../fields/ids.ts';
import { invoke } from '../../operation/operation.ts';
import { createWebhook } from '../endpoints/create-webhook.ts';
import { settlePosts } from '../posting/post.ts';
import { oweRange } from './owe-range.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.stop());

const COUNT = 40;

/** Creates an endpoint with pending deliveries; returns their ids in order. */
async function owed(): Promise<{ webhook_id: string; ids: string[] }> {
  const { sql } = world.services;
  const { id } = await invoke(world.as(world.workspace_id), createWebhook, { url: 'http://127.0.0.1:9999/hook' });
  const events = Array.from({ length: COUNT }, () => newId('event', world.clock.now()));
  await sql`insert into events (workspace_id, id, type, sequence, facts, created_at)
    select ${world.workspace_id}, id, 'email.queued', 1, '{}', clock_now() from unnest(${events}::uuid[]) as a (id)`;
  const rows = await sql<{ id: string }[]>`select id from webhook_deliveries order by id`;
  return { webhook_id: id, ids: rows.map((row) => row.id) };
}

const recover = (webhook_id: string) => {
  const at = world.clock.now();
  const range = { since: isoTime(new Date(at - 3_600_000)), until: isoTime(new Date(at + 3_600_000)) };
  return oweRange(world.services, { workspace_id: world.workspace_id, webhook_id, ...range });
};

/** Resolves once a session in this database waits for a lock. */
const waitForBlockedLock = () =>
  expect
    .poll(
      () => world.services.sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    .toHaveLength(1);

/** Returns the rows that are not locked while the work waits for the first of these ids. */
async function freeBehindTheFirst(ids: readonly string[], work: () => Promise<unknown>): Promise<string[]> {
  let working: Promise<unknown> = Promise.resolve();
  const free = await world.services.sql.begin(async (tx) => {
    await tx`select from webhook_deliveries where id = ${ids[0] ?? ''} for update`;
    working = work();
    await waitForBlockedLock();
    return tx<{ id: string }[]>`
      select id from webhook_deliveries where id <> ${ids[0] ?? ''} order by id for update skip locked`;
  });
  await working;
  return free.map(({ id }) => id);
}

async function states(): Promise<string[]> {
  const rows = await world.services.sql<{ state: string }[]>`select distinct state from webhook_deliveries`;
  return rows.map(({ state }) => state);
}

describe('the webhook delivery lock order', () => {
  it('follows delivery ids when results are recorded, regardless of the order in which requests finish', async () => {
    const { ids } = await owed();
    const posts = await world.claimWebhooks(COUNT);
    const outcome = { kind: 'answered', status: 200, retry_after: null, headers: {}, text: '' } as const;
    const leases = posts
      .map(({ row, lease }) => ({ row, lease, outcome }))
      .sort((a, b) => (a.row.id < b.row.id ? 1 : -1));

    const free = await freeBehindTheFirst(ids, () => settlePosts(world.services, leases));

    expect(free).toEqual(ids.slice(1));
    expect(await states()).toEqual(['delivered']);
  });

  it('follows delivery ids during a recovery', async () => {
    const { webhook_id, ids } = await owed();
    await world.services.sql`update webhook_deliveries set state = 'failed'`;

    const free = await freeBehindTheFirst(ids, () => recover(webhook_id));

    expect(free).toEqual(ids.slice(1));
    expect(await states()).toEqual(['pending']);
  });
});

describe('a webhook recovery', () => {
  it('revives deliveries that are given up concurrently', async () => {
    const { webhook_id } = await owed();
    let working: Promise<unknown> = Promise.resolve();

    await world.services.sql.begin(async (tx) => {
      await tx`update webhook_deliveries set state = 'failed', attempt_count = 3`;
      working = recover(webhook_id);
      await waitForBlockedLock();
    });
    await working;

    const rows = await world.services.sql`select distinct state, attempt_count from webhook_deliveries`;
    expect(rows).toEqual([{ state: 'pending', attempt_count: 0 }]);
  });
});
