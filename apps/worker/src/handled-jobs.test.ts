import { type Context, createContext, invoke, type Services } from '@postrider/core';
import { createHold, releaseHold } from '@postrider/core/holds';
import { getJob, getQueue, jobId, listJobs, listWorkers, redriveQueue, setConcurrency } from '@postrider/core/queues';
import { openWorkerMetrics, startHoldCache, type WorkerMetrics } from '@postrider/dispatch';
import { createWorld, type World } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startHandledJobs } from './handled-jobs.ts';

let world: World;
let ctx: Context;
const stops: (() => Promise<void>)[] = [];
beforeEach(async () => {
  world = await createWorld();
  ctx = world.as(world.workspace_id);
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await world.stop();
});

async function startWorker(): Promise<{ services: Services; metrics: WorkerMetrics }> {
  const services = await world.peer({ works: true });
  const metrics = await openWorkerMetrics(services);
  const holds = startHoldCache(services);
  await holds.ready;
  const handled = startHandledJobs(services, metrics, holds);
  stops.unshift(async () => {
    await handled.stop();
    await metrics.stop();
    await holds.stop();
  });
  return { services, metrics };
}

const recovery = () => ({
  workspace_id: world.workspace_id,
  webhook_id: 'whk_none',
  since: '2026-01-01T00:00:00Z',
  until: '2026-01-02T00:00:00Z',
});

async function addRecoveries(count: number): Promise<void> {
  const { sql, jobs } = world.services;
  await sql.begin((tx) =>
    jobs.send(
      tx,
      'webhook.recover',
      Array.from({ length: count }, () => ({ data: recovery() })),
    ),
  );
  jobs.wakeAll('webhook.recover');
}

async function jobsIn(queue: string, state: string): Promise<string[]> {
  const rows = await world.services.sql<{ id: string }[]>`
    select id from pgboss.job where name = ${queue} and state::text = ${state}`;
  return rows.map(({ id }) => jobId(id));
}

/** Makes every recovery fail from now on, as if the database had lost a table. */
const breakRecoveries = () => world.services.sql`alter table webhook_recoveries rename to webhook_recoveries_away`;
const mendRecoveries = () => world.services.sql`alter table webhook_recoveries_away rename to webhook_recoveries`;

describe('jobs without lanes', () => {
  it('run back to back on two workers, once each', async () => {
    const workers = [await startWorker(), await startWorker()];
    for (const { services } of workers) await services.jobs.listen();

    await addRecoveries(100);

    // Workers fetch a job as soon as they have capacity. At one job every five seconds, this would time out.
    await vi.waitFor(async () => expect(await jobsIn('webhook.recover', 'completed')).toHaveLength(100), 30_000);
    for (const { metrics } of workers) await metrics.publish();
    const [sum] = await world.services.sql`
      select sum(finished)::int as finished from queue_minutes where queue = 'webhook.recover'`;
    expect(sum).toEqual({ finished: 100 });
  });

  it('record each failed run and its worker, latest first, and the final successful run', async () => {
    const { services, metrics } = await startWorker();
    await breakRecoveries();
    await addRecoveries(1);
    services.jobs.wakeAll('webhook.recover');
    await vi.waitFor(async () => expect(await jobsIn('webhook.recover', 'retry')).toHaveLength(1), 30_000);
    await mendRecoveries();
    await world.clock.advance(40_000);
    services.jobs.wakeAll('webhook.recover');
    await vi.waitFor(async () => expect(await jobsIn('webhook.recover', 'completed')).toHaveLength(1), 30_000);

    const [id = ''] = await jobsIn('webhook.recover', 'completed');
    const job = await invoke(ctx, getJob, { id });

    expect(job).toMatchObject({ state: 'completed', subject: { type: 'webhook', id: 'whk_none' } });
    expect(job.attempts).toMatchObject([
      { number: 2, error: null },
      { number: 1, error: { name: 'PostgresError', message: expect.stringContaining('webhook_recoveries') } },
    ]);
    expect(job.attempts[0]?.worker).toMatch(/:\d+$/);
    await metrics.publish();
    expect(await invoke(ctx, getQueue, { queue: 'webhook.recover' })).toMatchObject({
      fail_per_minute: expect.any(Number),
    });
  });

  it('are dead after their last retry, and run successfully once redriven', async () => {
    const { services } = await startWorker();
    await breakRecoveries();
    await world.services.sql`update pgboss.queue set retry_limit = 0 where name = 'webhook.recover'`;
    await addRecoveries(3);
    services.jobs.wakeAll('webhook.recover');
    await vi.waitFor(async () => expect(await jobsIn('webhook.recover', 'failed')).toHaveLength(3), 30_000);
    const { data } = await invoke(ctx, listJobs, { state: 'dead' });
    expect(data.map(({ output }) => output)).toMatchObject(Array(3).fill({ name: 'PostgresError' }));

    await mendRecoveries();
    expect(await invoke(ctx, redriveQueue, { queue: 'webhook.recover' })).toMatchObject({ redriven: 3 });
    services.jobs.wakeAll('webhook.recover');

    await vi.waitFor(async () => expect(await jobsIn('webhook.recover', 'completed')).toHaveLength(3), 30_000);
  });

  it('run with the concurrency that an operator sets, on every running worker', async () => {
    const { services, metrics } = await startWorker();
    const lock = await world.services.sql.reserve();
    await lock`begin`;
    // Our own connections are closed after a few seconds of idling.
    await lock`set local idle_in_transaction_session_timeout = 0`;
    await lock`lock table webhook_deliveries in access exclusive mode`;
    await lock`lock table webhooks in access exclusive mode`;
    await addRecoveries(20);
    services.jobs.wakeAll('webhook.recover');
    await vi.waitFor(async () => expect(await jobsIn('webhook.recover', 'active')).toHaveLength(4), 30_000);

    await invoke(ctx, setConcurrency, { queue: 'webhook.recover', concurrency: 7 });

    await vi.waitFor(async () => expect(await jobsIn('webhook.recover', 'active')).toHaveLength(7), 30_000);
    const [id = ''] = await jobsIn('webhook.recover', 'active');
    // A job becomes active in the database before the worker that fetched it has received its row.
    await expect
      .poll(async () => {
        await metrics.publish();
        return invoke(ctx, getQueue, { queue: 'webhook.recover' });
      })
      .toMatchObject({ workers: [{ id: metrics.worker_id, active: 7 }], concurrency: 7 });
    expect((await invoke(ctx, getJob, { id })).worker).toMatchObject({ id: metrics.worker_id });
    await lock`commit`;
    lock.release();
    await vi.waitFor(async () => expect(await jobsIn('webhook.recover', 'completed')).toHaveLength(20), 30_000);
  });

  it('wait while their queue is held, and resume after its release', async () => {
    const { id } = await invoke(ctx, createHold, {
      scope: 'queue',
      value: 'webhook.recover',
      reason: 'An outage there',
    });
    await startWorker();
    await addRecoveries(5);
    const other = { ...recovery(), domain: 'none.test' };
    const { sql, jobs } = world.services;
    await sql.begin((tx) => jobs.send(tx, 'domain.cancel_mail', [{ data: other }]));
    await vi.waitFor(async () => expect(await jobsIn('domain.cancel_mail', 'completed')).toHaveLength(1), 30_000);
    expect(await jobsIn('webhook.recover', 'created')).toHaveLength(5);

    await invoke(ctx, releaseHold, { hold_id: id });

    await vi.waitFor(async () => expect(await jobsIn('webhook.recover', 'completed')).toHaveLength(5), 30_000);
  });

  it('return to the queue if they are unfinished at shutdown, and run on another worker', async () => {
    const { services } = await startWorker();
    const lock = await world.services.sql.reserve();
    await lock`begin`;
    // Our own connections are closed after a few seconds of idling.
    await lock`set local idle_in_transaction_session_timeout = 0`;
    await lock`lock table webhook_deliveries, webhooks in access exclusive mode`;
    await addRecoveries(1);
    services.jobs.wakeAll('webhook.recover');
    await vi.waitFor(async () => expect(await jobsIn('webhook.recover', 'active')).toHaveLength(1), 30_000);

    const [stop] = stops.splice(0);
    const stopping = stop?.();
    await vi.waitFor(async () => expect(await jobsIn('webhook.recover', 'retry')).toHaveLength(1), 30_000);
    await lock`commit`;
    lock.release();
    await stopping;
    const other = await startWorker();
    other.services.jobs.wakeAll('webhook.recover');

    await vi.waitFor(async () => expect(await jobsIn('webhook.recover', 'completed')).toHaveLength(1), 30_000);
  });
});

describe('workers.list', () => {
  it("shows each worker's jobs, and marks crashed workers as not live", async () => {
    const first = await startWorker();
    await first.metrics.publish();
    // The first worker sends a heartbeat every thirty seconds of real time, so other workers see it as silent from now
    // on.
    await world.clock.advance(120_000);
    const second = await startWorker();
    await second.metrics.publish();

    const { data } = await invoke(ctx, listWorkers, {});

    expect(data.map(({ id, live }) => ({ id, live }))).toEqual([
      { id: second.metrics.worker_id, live: true },
      { id: first.metrics.worker_id, live: false },
    ]);
    expect(data[0]).toMatchObject({
      version: '1.0.0',
      stopped_at: null,
      active: 0,
      queues: expect.arrayContaining(['webhook.recover']),
    });
    expect(data[0]?.rss_bytes).toBeGreaterThan(1_000_000);
    expect(data[1]).toMatchObject({ stopped_at: null, queues: [], active: 0 });
  });

  it('is available only to operators', async () => {
    const { key_id, workspace_id } = await world.workspace('business');
    const actor = { kind: 'key', workspace_id, key_id, scopes: ['admin'], mode: 'live', domains: null } as const;

    await expect(invoke(createContext(world.services, actor), listWorkers, {})).rejects.toMatchObject({
      reason: 'missing_scope',
    });
  });
});
