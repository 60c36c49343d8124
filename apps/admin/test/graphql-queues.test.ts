import { randomUUID } from 'node:crypto';
import { createContext, invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { createHold } from '@postrider/core/holds';
import { addWork, jobId, measureQueues, queueNames } from '@postrider/core/queues';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it, vi } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { openGraphql } from './graphql-server.ts';
import { refusalOf, signedIn } from './signed-in.ts';

const HOUR_MS = 3_600_000;

const world = await openWorld();
const graphql = await openGraphql(world);
const admin = await openAdmin(world);

async function addClose(
  start_after?: Date,
  name: 'webhook.close' | 'storage.maintain' = 'webhook.close',
): Promise<string> {
  const job = { id: randomUUID(), data: { webhook_id: 'whk_none' }, ...(start_after && { start_after }) };
  await world.services.sql.begin((tx) => world.services.jobs.send(tx, name, [job]));
  return jobId(job.id);
}

const inAnHour = () => new Date(world.clock.now() + HOUR_MS);

describe('queues', () => {
  it('are shown as stopped if an instance-wide hold stops them', async () => {
    const ctx = createContext(world.services, { kind: 'system', workspace_id: world.workspace_id });
    const hold = await invoke(ctx, createHold, { scope: 'instance', value: 'all', reason: 'A restore' });

    const { data } = await graphql.ask(`{
      mail: queue(name: "delivery.attempt") { paused { id } }
      webhooks: queue(name: "webhook.deliver") { paused { id } }
      chore: queue(name: "storage.maintain") { paused { id } }
    }`);
    await world.services.sql`delete from holds`;

    expect(data).toEqual({
      mail: { paused: { id: hold.id } },
      webhooks: { paused: { id: hold.id } },
      chore: { paused: null },
    });
  });

  it('show their measurements, their workers and any hold', async () => {
    const { sql } = world.services;
    const worker = await world.peer({ works: true });
    const worker_id = (await worker.jobs.instanceId()) ?? '';
    const work = { queue: 'webhook.close', finished: 5, failed: 0, wait_bins: [5], run_bins: [0, 5] };
    await addWork(sql, worker_id, [{ ...work, active: 1, concurrency: 4, job_ids: [] }]);
    await addClose(inAnHour());
    await measureQueues(sql, queueNames, 0);
    const ctx = createContext(world.services, { kind: 'system', workspace_id: world.workspace_id });
    const hold = await invoke(ctx, createHold, { scope: 'queue', value: 'webhook.close', reason: 'An outage' });

    const response = await graphql.ask(`{
      queues { name }
      queue(name: "webhook.close") {
        purpose ready deferred active dead parked oldestReadySeconds outPerMin failPerMin drainSeconds concurrency measuredAt
        wait(percentiles: [50, 90]) { p seconds } run { p seconds }
        workers { id live queues active } paused { id }
      }
      absent: queue(name: "nothing") { name }
      workers { id name host live lastHeartbeatAt rssBytes crashRestarts }
      schedules { name human nextRuns(count: 1) missedPolicy lastRun { id } }
    }`);

    expect(response.errors).toEqual([]);
    expect(response.data).toMatchObject({
      queues: queueNames.map((name) => ({ name })),
      queue: {
        ready: 0,
        deferred: 1,
        concurrency: 4,
        wait: [
          { p: 50, seconds: 0.001 },
          { p: 90, seconds: 0.001 },
        ],
        run: [{ p: 50 }, { p: 95 }, { p: 99 }],
        workers: [{ id: worker_id, live: true, queues: ['webhook.close'], active: 1 }],
        paused: { id: hold.id },
      },
      absent: null,
      workers: [{ id: worker_id, live: true }],
      schedules: expect.arrayContaining([
        expect.objectContaining({ name: 'storage.maintain', human: 'every hour at minute 7', missedPolicy: 'SKIP' }),
      ]),
    });
  });

  it('have a history that includes operator actions', async () => {
    const set = await graphql.ask(`mutation {
      queueSetConcurrency(input: { queue: "webhook.close", concurrency: 9, reason: "too slow" }) {
        ... on QueuePayload { queue { name concurrency } }
      }
    }`);
    expect(set.data).toEqual({ queueSetConcurrency: { queue: { name: 'webhook.close', concurrency: 9 } } });

    const since = new Date(world.clock.now() - HOUR_MS).toISOString();
    const response = await graphql.ask(
      `query ($since: DateTime!) { queue(name: "webhook.close") {
        history(range: { since: $since }, maxPoints: 1) { deferred finished waitP95 annotations { action reason } }
      } }`,
      { since },
    );

    expect(response.errors).toEqual([]);
    expect(response.data).toMatchObject({
      queue: {
        history: [{ deferred: 1, finished: 5, annotations: [{ action: 'queue.concurrency_set', reason: 'too slow' }] }],
      },
    });
  });

  it('are visible only to operators, as are jobs, which look nonexistent to others', async () => {
    const { secret } = await world.key({ scopes: ['admin'] });
    const id = await addClose(inAnHour());

    for (const query of [
      '{ queues { name } }',
      '{ workers { id } }',
      '{ schedules { name } }',
      '{ jobs { nodes { id } } }',
    ]) {
      const response = await graphql.ask(query, undefined, { key: secret });
      expect(response.errors).toMatchObject([{ extensions: { reason: 'missing_scope', requiredScope: 'operator' } }]);
    }
    const node = await graphql.ask('query ($id: ID!) { node(id: $id) { id } }', { id }, { key: secret });
    expect(node).toMatchObject({ data: { node: null }, errors: [] });
  });
});

describe('queueStats', () => {
  it('returns current values for the requested queues, regardless of when they were last measured', async () => {
    const query = 'subscription { queueStats(names: ["webhook.recover"]) { name ready } }';
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${world.secret}` };
    const abort = new AbortController();
    const response = await fetch(graphql.url, {
      method: 'POST',
      headers: { ...headers, accept: 'text/event-stream' },
      body: JSON.stringify({ query }),
      signal: abort.signal,
    });
    let text = '';
    const decoder = new TextDecoder();
    const reading = (async () => {
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    })().catch(() => undefined);
    const statsOf = (ready: number) => `"queueStats":[{"name":"webhook.recover","ready":${ready}}]`;
    await vi.waitFor(() => expect(text).toContain(statsOf(0)), 30_000);

    const { sql, jobs } = world.services;
    const range = { since: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z' };
    const data = { workspace_id: world.workspace_id, webhook_id: 'whk_none', ...range };
    await sql.begin((tx) => jobs.send(tx, 'webhook.recover', [{ data }]));
    await measureQueues(sql, queueNames, 0);

    await vi.waitFor(() => expect(text).toContain(statsOf(1)), 30_000);
    abort.abort();
    await reading;
  });
});

describe('jobs', () => {
  it('are paged, each with its queue, attempts and subject', async () => {
    const { services, workspace_id } = world;
    world.smtp.script(() => ({ kind: 'reply', code: 451, text: '4.7.1 later' }));
    const mail = { from: 'hello@sandbox.test', to: ['a@example.com', 'b@example.com'], subject: 'Hello', text: 'Hi' };
    const { id: message } = await invoke(createContext(services, { kind: 'system', workspace_id }), sendMessage, mail);
    await world.drain();
    const query = `query ($message: ID!, $after: String) {
      jobs(first: 1, after: $after, filter: { subject: $message, state: DEFERRED }) {
        edges { cursor node {
          id state retryCount startAfter queue { name } subjectId subject { id ... on Message { status } }
          attempts { number error } worker { id }
        } }
        pageInfo { hasNextPage endCursor }
      }
    }`;

    const first = await graphql.ask(query, { message });
    const { edges } = (first.data as { jobs: { edges: { cursor: string; node: { id: string } }[] } }).jobs;
    const second = await graphql.ask(query, { message, after: edges[0]?.cursor });

    expect(first.errors).toEqual([]);
    expect(first.data).toMatchObject({
      jobs: {
        edges: [
          {
            node: {
              state: 'DEFERRED',
              queue: { name: 'delivery.attempt' },
              subjectId: message,
              subject: { id: message, status: 'DEFERRED' },
              attempts: [{ number: 1, error: { name: 'deferred' } }],
              worker: null,
            },
          },
        ],
        pageInfo: { hasNextPage: true },
      },
    });
    expect(second.data).toMatchObject({
      jobs: { edges: [{ node: { state: 'DEFERRED' } }], pageInfo: { hasNextPage: false } },
    });
    const id = edges[0]?.node.id;
    const node = await graphql.ask('query ($id: ID!) { node(id: $id) { id ... on Job { state } } }', { id });
    expect(node.data).toEqual({ node: { id, state: 'DEFERRED' } });
  });

  it('can be run, canceled and retried, unless their state does not allow it', async () => {
    const id = await addClose(inAnHour(), 'storage.maintain');
    const pull = (lever: string) =>
      graphql.ask(
        `mutation ($id: ID!) { ${lever}(input: { id: $id, reason: "a test" }) {
          ... on JobPayload { job { state } } ... on StateError { reason currentState }
        } }`,
        { id },
      );

    expect((await pull('jobRunNow')).data).toEqual({ jobRunNow: { job: { state: 'READY' } } });
    expect((await pull('jobCancel')).data).toEqual({ jobCancel: { job: { state: 'CANCELED' } } });
    expect((await pull('jobRunNow')).data).toEqual({
      jobRunNow: { reason: 'job_not_open', currentState: 'canceled' },
    });
    expect((await pull('jobRetry')).data).toEqual({ jobRetry: { job: { state: 'RETRY' } } });
  });

  it('can be retried for a whole queue once they are dead', async () => {
    await addClose();
    await world.services.sql`
      update pgboss.job set state = 'failed', completed_on = pgboss.job_now() where name = 'webhook.close' and state = 'created'
        and start_after <= pgboss.job_now()`;
    const redrive = (preview: boolean) =>
      graphql.ask(
        `mutation ($preview: Boolean) { queueRedrive(input: { queue: "webhook.close", preview: $preview }) {
          ... on RedrivePayload { queueName dead redriven }
        } }`,
        { preview },
      );

    const preview = await redrive(true);
    const done = await redrive(false);

    expect(preview.data).toMatchObject({ queueRedrive: { queueName: 'webhook.close', dead: 1, redriven: 0 } });
    expect(done.data).toMatchObject({ queueRedrive: { dead: 1, redriven: 1 } });
  });
});

describe('operations data in the dashboard', () => {
  it('matches the GraphQL data, is returned only to operators, and includes the admin actions', async () => {
    const { api } = await signedIn(world, admin, 'operator');
    const id = await addClose(inAnHour(), 'storage.maintain');

    expect((await api.ops.queues.query()).data.map(({ name }) => name)).toEqual(queueNames);
    expect(await api.ops.queue.query({ queue: 'webhook.close' })).toMatchObject({ name: 'webhook.close' });
    expect(await api.ops.history.query({ queue: 'webhook.close' })).toMatchObject({ point_seconds: 60 });
    expect((await api.ops.jobs.list.query({ queue: 'storage.maintain' })).data.map((job) => job.id)).toContain(id);
    expect(await api.ops.jobs.get.query({ id })).toMatchObject({ state: 'deferred', attempts: [] });
    expect(await api.ops.jobs.runNow.mutate({ id })).toMatchObject({ state: 'ready' });
    expect(await api.ops.jobs.cancel.mutate({ id })).toMatchObject({ state: 'canceled' });
    expect(await api.ops.jobs.retry.mutate({ id })).toMatchObject({ state: 'retry' });
    expect((await api.ops.workers.query()).object).toBe('list');
    expect((await api.ops.schedules.list.query()).data.length).toBeGreaterThan(1);
    const [entry] = await world.services.sql`
      select via, actor_kind from audit_log where target_id = ${id} order by sequence limit 1`;
    expect(entry).toEqual({ via: 'dashboard', actor_kind: 'user' });
    const other = await signedIn(world, admin, 'admin');
    expect(await refusalOf(other.api.ops.queues.query())).toMatchObject({ status: 403, reason: 'missing_scope' });
    expect(await refusalOf(other.api.ops.jobs.retry.mutate({ id }))).toMatchObject({ status: 403 });
  });
});
