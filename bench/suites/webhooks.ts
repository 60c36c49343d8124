import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createEncryption, newId } from '@postrider/core';
import { encryptSecret, newWebhookSecret } from '@postrider/core/webhooks';
import type { Sql } from '@postrider/db';
import { WARM_SECONDS } from '../measure/flow.ts';
import { measureRounds } from '../measure/rounds.ts';
import { ascending, median, percentile, ratiosOf } from '../measure/statistics.ts';
import type { BenchOptions } from '../options.ts';
import { type BenchServer, onBenchServer } from '../product/database.ts';
import { prepareProduct, SECRET_KEY, startProduct } from '../product/product.ts';
import { vacuum } from '../product/vacuum.ts';
import { type PostSink, startPostSink } from '../receivers/post-sink.ts';
import { line, type Report } from '../report/table.ts';

const BARE = fileURLToPath(new URL('../bare-posts.ts', import.meta.url));
const ENDPOINTS = 20;
const CONCURRENCY = 4 * ENDPOINTS;
const BODY_BYTES = 700;
const EVENTS = 9000;
/** How many events a statement adds. */
const ADDED_AT_A_TIME = 30_000;
const PACE = 400;
const STEP_MS = 20;
const BARE_RATE = 'bare requests, /s';
const RATE = 'webhooks, /s';
const CALM = 'p99 with no endpoint hanging, ms';
const BESIDE = 'p99 of the others with one hanging, ms';

/**
 * Measures W1 and W2: webhook throughput against a bare request loop, and the cost of one hanging endpoint for the
 * others.
 */
export function benchWebhooks(options: BenchOptions): Promise<Report[]> {
  return onBenchServer((server) => measureWebhooks(server, options));
}

async function measureWebhooks(server: BenchServer, { rounds: count, seconds }: BenchOptions): Promise<Report[]> {
  const sink = await startPostSink();
  const product = await prepareProduct(await server.database('product'), ENDPOINTS);
  const { sql } = product;
  const env = { ROLES: 'worker', WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' };
  try {
    const workspaces = await addEndpoints(sql, sink.port);
    let lost = 0;
    const rounds = await measureRounds({ rounds: count }, async (keep) => {
      keep(BARE_RATE, await bareRate(sink, seconds));
      await reset(sql);
      for (let left = EVENTS * ENDPOINTS; left > 0; left -= ADDED_AT_A_TIME)
        await owe(sql, workspaces, Math.min(ADDED_AT_A_TIME, left));
      const worker = await startProduct(product, env);
      keep(RATE, await drainRate(sink, EVENTS * ENDPOINTS));
      await vacuum(sql);
      for (const [series, hanging] of [[CALM, null] as const, [BESIDE, '/0'] as const]) {
        sink.hang(hanging);
        const paced = await pacedPosts(sql, sink, workspaces, seconds * 2);
        keep(series, paced.p99_ms);
        lost += paced.lost;
      }
      await worker.stop();
      sink.hang(null);
    });
    const [bare, posted, calm, with_hanging] = [BARE_RATE, RATE, CALM, BESIDE].map((series) => rounds.values(series));
    const figure = (values: readonly number[] = []) => median(values).toFixed(0);
    const lines = [
      line('', `bare requests, ${CONCURRENCY} concurrent`, `${figure(bare)}/s`),
      line('W1', 'queued webhooks ÷ bare requests', `${figure(posted)}/s`, ratiosOf(posted ?? [], bare ?? []), {
        at_least: 0.5,
      }),
      line(
        'W2',
        `event → request at ${PACE}/s, p99 of the others with one hanging ÷ none`,
        `${figure(with_hanging)} ms ÷ ${figure(calm)} ms, ${lost} lost`,
        ratiosOf(with_hanging ?? [], calm ?? []),
        { at_most: 2 },
      ),
    ];
    return [{ title: `Webhooks to ${ENDPOINTS} endpoints, medians`, lines, rounds }];
  } finally {
    await product.stop();
    await sink.stop();
  }
}

/** Adds one endpoint per workspace; returns the ids in the same order. */
async function addEndpoints(sql: Sql, port: number): Promise<string[]> {
  const encryption = createEncryption(SECRET_KEY);
  const rows = await sql<{ id: string }[]>`select id from workspaces order by id limit ${ENDPOINTS}`;
  for (const [index, { id: workspace_id }] of rows.entries()) {
    const id = newId('webhook', timeNow());
    await sql`
      insert into webhooks (workspace_id, id, url, secret, secret_last4, created_at)
      values (${workspace_id}, ${id}, ${`http://127.0.0.1:${port}/${index}`},
        ${encryptSecret(encryption, id, newWebhookSecret())}, 'xxxx', now())`;
  }
  return rows.map(({ id }) => id);
}

function timeNow(): number {
  return Math.floor(performance.timeOrigin + performance.now());
}

async function reset(sql: Sql): Promise<void> {
  const [queue] = await sql<{ table_name: string }[]>`
    select table_name from pgboss.queue where name = 'webhook.deliver'`;
  await sql`
    truncate messages, recipients, events, webhook_deliveries, endpoint_leases,
      ${sql(`pgboss.${queue?.table_name ?? 'job'}`)}`;
  await sql`update webhooks set failure_count = 0, failing_since = null, paused_until = null`;
  await sql`vacuum analyze`;
}

/** Adds delivered messages with one recipient each, spread over the workspaces; returns their event ids. */
async function owe(sql: Sql, workspaces: readonly string[], count: number): Promise<string[]> {
  const now_ms = timeNow();
  const rows = Array.from({ length: count }, (_, index) => ({
    workspace: workspaces[index % workspaces.length] ?? '',
    message: newId('message', now_ms),
    recipient: newId('recipient', now_ms),
    event: newId('event', now_ms),
  }));
  await sql`
    with given as materialized (
      select * from unnest(
        ${rows.map((row) => row.workspace)}::uuid[],
        ${rows.map((row) => row.message)}::uuid[],
        ${rows.map((row) => row.recipient)}::uuid[],
        ${rows.map((row) => row.event)}::uuid[]
      ) as a (workspace_id, message_id, recipient_id, event_id)
    ),
    m as (
      insert into messages (workspace_id, id, status, mode, from_address, from_email, from_domain, to_addresses,
        cc_addresses, bcc_addresses, subject, tags, metadata, recipient_count, request_id, created_at, event_count,
        last_event_type, last_event_at)
      select workspace_id, message_id, 'delivered', 'live', 'Shop <app@mail0.example.com>', 'app@mail0.example.com',
        'mail0.example.com', '{ada@rcpt.test}', '{}', '{}', 'Your receipt for order 10023', '{receipt,shop}',
        '{"order":"10023"}', 1, no_id(), now(), 2, 'email.delivered', now()
      from given
    ),
    r as (
      insert into recipients (workspace_id, message_id, id, email, domain, kind, state, due_at, attempt_count)
      select workspace_id, message_id, recipient_id, 'ada@rcpt.test', 'rcpt.test', 'to', 'delivered', now(), 1 from given
    )
    insert into events (workspace_id, id, type, message_id, recipient_id, sequence, facts, created_at)
    select workspace_id, event_id, 'email.delivered', message_id, recipient_id, 2,
      '{"attempt":1,"response":"250 2.0.0 Ok: queued as 4Xw1Yz"}', now()
    from given`;
  return rows.map((row) => row.event);
}

async function bareRate(sink: PostSink, seconds: number): Promise<number> {
  const child = spawn(
    process.execPath,
    [BARE, String(sink.port), String(WARM_SECONDS + seconds), String(CONCURRENCY), String(BODY_BYTES)],
    { stdio: 'inherit', env: { PATH: process.env.PATH, NODE_ENV: 'production' } },
  );
  const exit = once(child, 'exit');
  await nextPost(sink);
  await new Promise((resolve) => setTimeout(resolve, WARM_SECONDS * 1000));
  const [before, started] = [sink.count(), performance.now()];
  await exit;
  return ((sink.count() - before) / (performance.now() - started)) * 1000;
}

/** Measures a drain, whose first eight seconds, or first half if it is shorter, are warm-up. */
async function drainRate(sink: PostSink, count: number): Promise<number> {
  const end = sink.count() + count;
  const arrival = async (target: number, limit_ms = Number.POSITIVE_INFINITY) => {
    const started = performance.now();
    while (sink.count() < target && performance.now() - started < limit_ms)
      await new Promise((resolve) => setTimeout(resolve, 5));
  };
  await arrival(end - count + 1);
  await arrival(end - count / 2, WARM_SECONDS * 1000);
  const [before, started] = [sink.count(), performance.now()];
  await arrival(end);
  return ((end - before) / (performance.now() - started)) * 1000;
}

function nextPost(sink: PostSink): Promise<number> {
  return new Promise((resolve) => {
    sink.onPost((_path, _id, at) => {
      sink.onPost(null);
      resolve(at);
    });
  });
}

/**
 * Creates events at a steady rate, each for one endpoint; returns the time from the start of each commit to its post.
 */
async function pacedPosts(sql: Sql, sink: PostSink, workspaces: readonly string[], seconds: number) {
  const owed = new Map<string, { readonly at: number; readonly path: string }>();
  const waits: number[] = [];
  const came = new Map<string, number>();
  sink.onPost((_path, id, at) => came.set(id, came.get(id) ?? at));
  const started = performance.now();
  for (let step = 0; step < (seconds * 1000) / STEP_MS; step++) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, started + step * STEP_MS - performance.now())));
    const at = performance.now();
    const count = (PACE * STEP_MS) / 1000;
    const turn = Array.from({ length: count }, (_, index) => (step * count + index) % workspaces.length);
    const ids = await owe(
      sql,
      turn.map((index) => workspaces[index] ?? ''),
      count,
    );
    // The notification that accept sends after its commit.
    await sql`select pg_notify('postrider_wake', 'delivery.attempt')`;
    for (const [index, id] of ids.entries()) owed.set(id, { at, path: `/${turn[index]}` });
  }
  const healthy = [...owed].filter(([, { path }]) => path !== '/0');
  const deadline = performance.now() + 10_000;
  while (healthy.some(([id]) => !came.has(id)) && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 50));
  sink.onPost(null);
  for (const [id, { at }] of healthy) {
    const arrived = came.get(id);
    if (arrived !== undefined) waits.push(arrived - at);
  }
  return { p99_ms: percentile(ascending(waits), 99), lost: healthy.length - waits.length };
}
