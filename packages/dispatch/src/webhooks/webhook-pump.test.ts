import { invoke, newId } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { createWebhook, deleteWebhook, egressOf } from '@postrider/core/webhooks';
import { createHttpGuard, type HttpGuard } from '@postrider/net';
import { createWorld, startWebhookSink, type WebhookAnswer, type WebhookSink, type World } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HoldCache, startHoldCache } from '../holds/hold-cache.ts';
import { startWebhookPump, type WebhookPump } from './webhook-pump.ts';

let world: World;
let sink: WebhookSink;
let http: HttpGuard;
let holds: HoldCache;
const pumps: WebhookPump[] = [];
beforeEach(async () => {
  world = await createWorld();
  sink = await startWebhookSink();
  http = createHttpGuard(egressOf(world.services.config));
  holds = startHoldCache(world.services);
});
afterEach(async () => {
  await Promise.all(pumps.splice(0).map((pump) => pump.stop()));
  await holds.stop();
  await http.stop();
  await sink.stop();
  await world.stop();
});

const start = (through = http) => pumps.push(startWebhookPump(world.services, through, holds));
const system = () => world.as(world.workspace_id);
const hook = (path: string) => invoke(system(), createWebhook, { url: sink.url + path, events: ['email.queued'] });
const send = () =>
  invoke(system(), sendMessage, { from: 'a@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' });
const postsTo = (path: string) => sink.requests.filter((request) => request.path === path);

/** Records `count` events for the current subscribers in one statement. */
async function happen(count: number): Promise<void> {
  const ids = Array.from({ length: count }, () => newId('event', world.clock.now()));
  await world.services.sql`
    insert into events (workspace_id, id, type, sequence, facts, created_at)
    select ${world.workspace_id}, id, 'email.queued', 1, '{}', clock_now() from unnest(${ids}::uuid[]) as a (id)`;
}

async function states(webhook_id: string): Promise<Record<string, number>> {
  const rows = await world.services.sql<{ state: string; count: number }[]>`
    select state, count(*)::int as count from webhook_deliveries where webhook_id = ${webhook_id} group by state`;
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

function hanging(...paths: string[]) {
  const released = Promise.withResolvers<void>();
  sink.script(
    ({ path }): WebhookAnswer =>
      paths.includes(path) ? { kind: 'stall', until: released.promise } : { kind: 'reply', status: 200 },
  );
  return released;
}

/** Creates the client that all workers of a test post with, and tracks the concurrent posts to one endpoint. */
function countingPosts() {
  const under_way = new Map<string, number>();
  let max = 0;
  const guard: HttpGuard = {
    ...http,
    async post(request, signal) {
      const count = (under_way.get(request.url) ?? 0) + 1;
      under_way.set(request.url, count);
      max = Math.max(max, count);
      const outcome = await http.post(request, signal);
      under_way.set(request.url, (under_way.get(request.url) ?? 0) - 1);
      return outcome;
    },
  };
  return { http: guard, most: () => max };
}

describe('the webhook pump', () => {
  it('posts deliveries that were pending before it started, and deliveries added later', async () => {
    const { id } = await hook('/hook');
    await send();
    start();
    await sink.waitFor(1);

    await send();
    await sink.waitFor(2);

    await expect.poll(() => states(id)).toEqual({ delivered: 2 });
  });

  it('posts each of many deliveries once, at most 32 at a time', async () => {
    const { id } = await hook('/hook');
    await happen(500);
    const counter = countingPosts();

    start(counter.http);

    await expect.poll(() => states(id), { timeout: 30_000 }).toEqual({ delivered: 500 });
    expect(sink.requests).toHaveLength(500);
    expect(counter.most()).toBeLessThanOrEqual(32);
  });

  it('shares the work with another worker: nothing is posted twice, and at most 32 at a time', async () => {
    const peer = await world.peer();
    const ids = [(await hook('/a')).id, (await hook('/b')).id];
    await happen(400);
    const counter = countingPosts();
    const { promise, resolve } = Promise.withResolvers<void>();
    sink.script(
      (): WebhookAnswer =>
        sink.requests.length < 8 ? { kind: 'stall', until: promise } : { kind: 'reply', status: 200 },
    );

    start(counter.http);
    pumps.push(startWebhookPump(peer, counter.http, holds));
    await sink.waitFor(8);
    // Either worker may fetch the deliveries that these wakes announce.
    for (let round = 0; round < 5; round++) {
      await happen(10);
      world.services.jobs.wakeAll('webhook.deliver');
    }
    resolve();

    for (const id of ids) await expect.poll(() => states(id), { timeout: 30_000 }).toEqual({ delivered: 450 });
    expect(new Set(sink.requests.map(({ path, headers }) => path + headers['webhook-id'])).size).toBe(900);
    expect(sink.requests).toHaveLength(900);
    expect(counter.most()).toBeLessThanOrEqual(32);
    // A worker that was woken for an endpoint leased by the other worker checks the endpoint once more when that lease
    // may be over.
    const remaining = async () => {
      await world.clock.advance(10_000);
      return world.services.sql`select from pgboss.job where name = 'webhook.deliver'`;
    };
    await expect.poll(remaining, { interval: 500 }).toEqual([]);
  });

  it('leaves no job behind if it takes an endpoint again whose lease it has overslept', async () => {
    const { id } = await hook('/slow');
    const { resolve } = hanging('/slow');
    const jobs = () => world.services.sql<{ state: string }[]>`
      select state from pgboss.job where name = 'webhook.deliver'`;
    const holder = async () => {
      const [lease] = await world.services.sql<{ holder: string | null }[]>`select holder from endpoint_leases`;
      return lease?.holder ?? null;
    };
    start();
    await happen(1);
    world.services.jobs.wakeAll('webhook.deliver');
    await sink.waitFor(1);
    const before = await holder();

    await world.clock.advance(11_000);
    await happen(1);
    world.services.jobs.wakeAll('webhook.deliver');
    await expect.poll(holder).not.toBe(before);
    resolve();

    await expect.poll(() => states(id)).toEqual({ delivered: 2 });
    await expect.poll(jobs).toEqual([]);
    expect(sink.requests).toHaveLength(2);
  });

  it('fairness C15: gives an endpoint with 200 ms latency 32 places, for over 100 posts per second', async () => {
    const { id } = await hook('/slow');
    await happen(500);
    sink.script((): WebhookAnswer => ({ kind: 'stall', until: new Promise((resolve) => setTimeout(resolve, 200)) }));
    const counter = countingPosts();

    start(counter.http);

    await expect.poll(() => states(id), { timeout: 30_000 }).toEqual({ delivered: 500 });
    expect(counter.most()).toBe(32);
  });

  it('finishes its job for an endpoint whose lease another worker has taken over', async () => {
    await hook('/hook');
    await happen(1);
    const released = hanging('/hook');
    start();
    await sink.waitFor(1);

    await world.services.sql`
      update endpoint_leases set holder = gen_random_uuid(), held_until = clock_now() + interval '1 minute'`;

    await expect
      .poll(() => world.services.sql`select state from pgboss.job where name = 'webhook.deliver'`)
      .toEqual([]);
    released.resolve();
  });

  it('uses four places for a hanging endpoint with 10,000 pending deliveries, and posts to other endpoints meanwhile', async () => {
    const dead = await hook('/dead');
    await happen(10_000);
    const healthy = await hook('/healthy');
    const released = hanging('/dead');
    start();
    await sink.waitFor(4);

    await happen(200);

    await expect.poll(() => states(healthy.id), { timeout: 30_000 }).toEqual({ delivered: 200 });
    expect(postsTo('/dead')).toHaveLength(4);
    expect(await states(dead.id)).toEqual({ pending: 10_200 });
    released.resolve();
  });

  it('tries a failing endpoint a few times, and then leaves it alone for a while', async () => {
    const { id } = await hook('/down');
    await happen(1000);
    sink.script(() => ({ kind: 'reply', status: 500 }));
    const paused = () => world.services.sql`select from webhooks where id = ${id} and paused_until > clock_now()`;

    start();

    await expect.poll(paused, { timeout: 30_000 }).toHaveLength(1);
    const rows = await world.services.sql`select from webhook_deliveries where attempt_count > 0 and lease is null`;
    expect(rows.length).toBeLessThan(20);
  });

  it('posts to an endpoint that fails now and then, even while one post in a hundred hangs', async () => {
    const { id } = await hook('/flaky');
    await happen(1500);
    const released = Promise.withResolvers<void>();
    let count = 0;
    sink.script((): WebhookAnswer => {
      count += 1;
      if (count % 100 === 0) return { kind: 'stall', until: released.promise };
      return { kind: 'reply', status: count % 20 === 1 ? 500 : 200 };
    });
    const patient = createHttpGuard({ ...egressOf(world.services.config), timeout_ms: 600_000 });

    start(patient);

    // The others are hanging, or wait for their second attempt.
    const countDelivered = async () => (await states(id)).delivered ?? 0;
    await expect.poll(countDelivered, { timeout: 30_000 }).toBeGreaterThan(1350);
    released.resolve();
    await pumps[0]?.stop();
    await patient.stop();
  });

  it('starts no post once an endpoint is deleted, even if more deliveries were already claimed', async () => {
    const { id } = await hook('/hook');
    await happen(100);
    const released = hanging('/hook');
    start();
    await sink.waitFor(4);

    await invoke(system(), deleteWebhook, { id });
    released.resolve();
    await pumps[0]?.stop();

    expect(sink.requests).toHaveLength(4);
  });

  it('releases unstarted deliveries when it stops, and finishes posts in progress', async () => {
    const { id } = await hook('/hook');
    await happen(20);
    const released = hanging('/hook');
    start();
    await sink.waitFor(4);

    const stopped = pumps[0]?.stop();
    released.resolve();
    await stopped;

    expect(await states(id)).toEqual({ delivered: 4, pending: 16 });
    const open = await world.services.sql`
      select attempt_count, lease from webhook_deliveries where state = 'pending' group by 1, 2`;
    expect(open).toEqual([{ attempt_count: 0, lease: null }]);
  });
});
