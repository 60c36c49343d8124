import { type Context, createContext, invoke, type Services, systemClock } from '@postrider/core';
import { listAudit } from '@postrider/core/audit';
import { getBacklog, refreshBacklog } from '@postrider/core/backlog';
import { listBulk, previewBulk } from '@postrider/core/bulk';
import { failureGroups, rollUpFailures } from '@postrider/core/failures';
import { listHolds } from '@postrider/core/holds';
import { listDestinations } from '@postrider/core/lanes';
import { getMessage } from '@postrider/core/messages';
import {
  getQueue,
  listJobs,
  listQueues,
  listSchedules,
  listWorkers,
  measureQueues,
  queueHistory,
  queueNames,
} from '@postrider/core/queues';
import { rollUpStats, statSeries } from '@postrider/core/stats';
import type { Sql } from '@postrider/db';
import { ascending, percentile } from '../measure/statistics.ts';
import type { BenchOptions } from '../options.ts';
import { type BenchServer, onBenchServer } from '../product/database.ts';
import { type ProductDatabase, prepareProduct } from '../product/product.ts';
import { seedMessages, seedOpen, workspaceIds } from '../product/seed.ts';
import { openServices } from '../product/services.ts';
import { vacuum } from '../product/vacuum.ts';
import { type Line, line, type Report } from '../report/table.ts';

const KEYS = 20;
const OPEN = 1_000_000;
const SAMPLES = 40;
const LIST_GOAL_MS = 300;
const WAITING_GOAL_MS = 50;
const BUSY_MINUTE = 50_000;
const HISTORY_DAYS = 1;
const HOUR_MS = 3_600_000;
// Enough to start the first step, but not a second one.
const SHORT_MS = 20;

/** Measures every operator query with many messages and a million open jobs, and the cost of the counts to a worker. */
export function benchOperators(options: BenchOptions): Promise<Report[]> {
  return onBenchServer((server) => measureOperators(server, options));
}

async function measureOperators(server: BenchServer, { messages }: BenchOptions): Promise<Report[]> {
  const product = await prepareProduct(await server.database('operators'), KEYS);
  const { services, stop } = await openServices(product, { name: 'bench-operators', connections: 4 }, (error) => {
    throw error;
  });
  try {
    await fill(product, services, messages);
    return [await measureChores(product.sql, services), await measureQuestions(product.sql, services)];
  } finally {
    await stop();
    await product.stop();
  }
}

async function fill({ sql }: ProductDatabase, { jobs }: Services, messages: number): Promise<void> {
  const started = performance.now();
  const ids = await workspaceIds(sql);
  await seedMessages(sql, messages, ids);
  const open = Math.min(OPEN, messages);
  await seedOpen(sql, open, ids, (tx, source) => jobs.insertion(tx, 'delivery.attempt', source));
  await vacuum(sql);
  process.stdout.write(
    `Seeded ${messages} messages, plus ${open} open ones with jobs, in ${((performance.now() - started) / 1000).toFixed(0)} s.\n`,
  );
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Measures the worker's jobs that precompute the counts. */
async function measureChores(sql: Sql, services: Services): Promise<Report> {
  const lines: Line[] = [];
  const add = (label: string, ms: number, goal_ms: number | null) =>
    lines.push(line('N1', label, `${ms.toFixed(0)} ms`, goal_ms === null ? [] : [ms / goal_ms], { at_most: 1 }));
  const countPart = (part: string) => sql`
    insert into backlog_snapshots (part, next_at)
    select part, case when part = ${part} then now() - interval '1 second' else now() + interval '1 hour' end
    from unnest('{recipients,messages,transports}'::text[]) as p (part)
    on conflict (part) do update set next_at = excluded.next_at`;
  for (const part of ['recipients', 'messages', 'transports']) {
    await countPart(part);
    await refreshBacklog(services);
    await countPart(part);
    add(`backlog of ${OPEN} counted by ${part} ÷ 2 s`, await timed(() => refreshBacklog(services)), 2000);
  }
  await measureQueues(sql, queueNames, 0);
  add(`queues with ${OPEN} jobs measured ÷ 0.1 s`, await timed(() => measureQueues(sql, queueNames, 0)), 100);
  const minute = await busyMinute(sql);
  // No roll-up runs early, so that only the minutes in between are computed.
  const setFinalUntil = (name: string, from: Date) =>
    sql`update roll_ups set early_until = now(), final_until = ${from} where name = ${name}`;
  const all = `${2 * BUSY_MINUTE} events`;
  await setFinalUntil('stats', minute);
  add(`stats for one minute with ${all} ÷ 0.5 s`, await timed(() => rollUpStats(services, SHORT_MS)), 500);
  await setFinalUntil('failures', minute);
  add('failures for that minute ÷ 0.5 s', await timed(() => rollUpFailures(services, SHORT_MS)), 500);
  const history = new Date(Math.floor(systemClock.now() / HOUR_MS) * HOUR_MS - HISTORY_DAYS * 24 * HOUR_MS);
  await setFinalUntil('stats', history);
  add(`stats for ${HISTORY_DAYS} days caught up`, await timed(() => rollUpStats(services, HOUR_MS)), null);
  await setFinalUntil('failures', history);
  add(`failures for ${HISTORY_DAYS} days caught up`, await timed(() => rollUpFailures(services, HOUR_MS)), null);
  return { title: 'Background work of a worker', lines, rounds: null };
}

/** Returns a minute, 13 hours ago, in which all messages were both accepted and delivered. */
async function busyMinute(sql: Sql): Promise<Date> {
  const [row] = await sql<{ at: Date }[]>`select date_trunc('minute', now() - interval '13 hours') as at`;
  const at = row?.at;
  if (!at) throw new Error('the database returned no time');
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    await tx`
      create temporary table busy on commit drop as
      select workspace_id, m.stem, m.at, i from (
        select i, ${at}::timestamptz + i * interval '1 ms' as at,
          derived_id('msg', id_floor(${at}::timestamptz + i * interval '1 ms'), 'busy' || i) as stem
        from generate_series(1, ${BUSY_MINUTE}::int) as i
      ) m
      join (select id as workspace_id, row_number() over () as place, count(*) over () as all from workspaces) w on m.i % w.all = w.place - 1
      order by m.stem`;
    await tx`
      insert into messages (workspace_id, id, status, mode, from_address, from_email, from_domain, to_addresses,
        cc_addresses, bcc_addresses, subject, tags, metadata, recipient_count, api_key_id, request_id, created_at,
        event_count, last_event_type, last_event_at)
      select workspace_id, stem, 'delivered', 'live', 'app@mail.example.com', 'app@mail.example.com', 'mail.example.com',
        array['u' || i || '@gmail.com'], '{}', '{}', 'Your receipt', array['receipt', 'tag' || i % 50], '{}', 1, derived_id('key', no_id(), (i % 3)::text),
        derived_id('req', stem, ''), at, 2, 'email.delivered', at
      from busy order by stem`;
    await tx`
      insert into recipients (workspace_id, message_id, id, email, domain, kind, state, due_at, attempt_count, first_attempt_at, last_response)
      select workspace_id, stem, derived_id('rcp', stem, '1'), 'u' || i || '@d' || i % 5000 || '.example.com', 'd' || i % 5000 || '.example.com', 'to',
        'delivered', at, 1, at + interval '20 ms', '250 2.0.0 Ok'
      from busy order by stem`;
    await tx`
      insert into events (workspace_id, id, type, message_id, recipient_id, sequence, facts, created_at)
      select workspace_id, derived_id('evt', stem, 'busy' || sequence), case when sequence = 1 then 'email.queued' else 'email.delivered' end,
        stem, case when sequence = 2 then derived_id('rcp', stem, '1') end, sequence,
        case when sequence = 1 then '{}' else '{"attempt":1,"response":"250 2.0.0 Ok"}' end, at + sequence * interval '50 ms'
      from busy cross join generate_series(1, 2) as sequence order by stem, sequence`;
  });
  await sql`analyze messages, recipients, events`;
  return at;
}

interface Question {
  readonly what: string;
  readonly goal_ms: number;
  ask(ctx: Context): Promise<unknown>;
}

type AnyOperation = Parameters<typeof invoke>[1];

function question(label: string, operation: AnyOperation, raw: unknown, goal_ms = LIST_GOAL_MS): Question {
  return { what: label, goal_ms, ask: (ctx) => invoke(ctx, operation, raw) };
}

async function measureQuestions(sql: Sql, services: Services): Promise<Report> {
  // The workspace with the most messages, and one of its pending messages.
  const [largest] = await sql<{ workspace_id: string; message_id: string }[]>`
    select workspace_id, max(id) as message_id from messages
    where id > id_floor(now() - interval '1 hour') and status = 'deferred'
    group by workspace_id order by count(*) desc limit 1`;
  if (!largest) throw new Error('there is no open message');
  const ctx = createContext(services, { kind: 'system', workspace_id: largest.workspace_id });
  const back = (hours: number) => new Date(systemClock.now() - hours * HOUR_MS).toISOString();
  const all = { metrics: ['accepted', 'delivered', 'deferred', 'bounced', 'accept_to_delivered_p95'] };
  const questions: Question[] = [
    ...(['destination', 'provider', 'sender_domain', 'api_key', 'tag', 'transport'] as const).flatMap((dimension) =>
      (['instance', 'workspace'] as const).map((reach) =>
        question(`backlog by ${dimension}, ${reach}`, getBacklog, { by: dimension, reach, top: 100 }),
      ),
    ),
    question('failures, 2 hours by minute', failureGroups, { since: back(1.9), reach: 'instance' }),
    question('failures, 3 days by hour', failureGroups, { since: back(72), reach: 'instance', top: 100 }),
    question('stats, one day by minute', statSeries, {
      ...all,
      since: back(23),
      bucket: 'minute',
      reach: 'instance',
    }),
    question('stats, 3 days by hour and tag', statSeries, {
      ...all,
      since: back(72),
      bucket: 'hour',
      group_by: 'tag',
    }),
    question('stats, 6 hours by minute and domain', statSeries, {
      ...all,
      since: back(5.9),
      bucket: 'minute',
      group_by: 'domain',
      top: 10,
      reach: 'workspace',
    }),
    question('queues', listQueues, {}),
    question('one queue, with times for one day', getQueue, { queue: 'delivery.attempt', window_minutes: 1440 }),
    question('queue history, one day', queueHistory, { queue: 'delivery.attempt', since: back(24) }),
    question('jobs', listJobs, { limit: 100 }),
    ...(['deferred', 'ready', 'active', 'retry', 'completed', 'canceled', 'dead'] as const).map((state) =>
      question(`${state} jobs`, listJobs, { state, limit: 100 }),
    ),
    question('jobs for one message', listJobs, { subject: largest.message_id }),
    question('jobs for one workspace', listJobs, { subject: largest.workspace_id, limit: 100 }),
    question('workers', listWorkers, {}),
    question('schedules', listSchedules, {}),
    question('destinations', listDestinations, {}),
    question('active holds', listHolds, {}),
    question('audit log', listAudit, { limit: 100 }),
    question('audit log, one action', listAudit, { action: 'hold.created', limit: 100 }),
    question('bulk operations', listBulk, {}),
    question('bulk preview, all deferred', previewBulk, { action: 'retry', filter: { status: 'deferred' } }),
    question('bulk preview, one domain, one day', previewBulk, {
      action: 'cancel',
      filter: { domain: 'mail3.example.com', since: back(24) },
    }),
    question('waiting reason for one message', getMessage, { id: largest.message_id }, WAITING_GOAL_MS),
  ];
  const lines: Line[] = [];
  for (const { what: label, goal_ms, ask } of questions) {
    // The first run plans the statements and reads the indexes from disk.
    await ask(ctx);
    const times: number[] = [];
    for (let sample = 0; sample < SAMPLES; sample++) times.push(await timed(() => ask(ctx)));
    const sorted = ascending(times);
    const [p50, p95] = [percentile(sorted, 50), percentile(sorted, 95)];
    const value = `p50 ${p50.toFixed(1)}  p95 ${p95.toFixed(1)} ms`;
    lines.push(line('N2', `${label}; p95 ÷ ${goal_ms} ms`, value, [p95 / goal_ms], { at_most: 1 }));
  }
  return { title: 'Operator queries, one after another', lines, rounds: null };
}
