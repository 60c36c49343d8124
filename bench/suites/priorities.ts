import { type Context, createContext, invoke, type Services } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import type { Priority } from '@postrider/core/priorities';
import { startDeliveryPump, startHoldCache } from '@postrider/dispatch';
import { createSmtpTransport, type Mailer } from '@postrider/mail';
import { measureRounds } from '../measure/rounds.ts';
import { median, percentile } from '../measure/statistics.ts';
import type { BenchOptions } from '../options.ts';
import { type BenchServer, onBenchServer } from '../product/database.ts';
import { prepareProduct } from '../product/product.ts';
import { openServices } from '../product/services.ts';
import { type Sink, startSink } from '../receivers/sink.ts';
import { line, type Report } from '../report/table.ts';

const BULK = 100_000;
/** Messages per second that the receiver accepts. PACE is the rate of each of the two other senders. */
const HIGH_COUNT = 200;
const PACE = 20;
const LEAD_MS = 5000;
const MAX_WAIT_MS = 2000;
/** Messages that are still open after this time count with their wait so far. */
const MAX_REST_MS = 60_000;

const HIGH = 'p99 of high, ms';
const OTHER = 'p99 of another workspace, ms';
const SHARE = 'share of bulk';
const RATE = 'accepted by the receiver, /s';

/**
 * Measures how a backlog of 100,000 bulk messages delays high-priority messages of the same workspace and normal
 * messages of another, and at which rate bulk messages still leave. The receiver accepts 200 messages per second. The
 * pump runs in this process, with one lane.
 */
export function benchPriorities(options: BenchOptions): Promise<Report[]> {
  return onBenchServer((server) => measurePriorities(server, options));
}

interface Site {
  readonly services: Services;
  readonly workspace_ids: readonly [string, string];
  stop(): Promise<void>;
}

async function measurePriorities(server: BenchServer, { rounds: count, seconds }: BenchOptions): Promise<Report[]> {
  const sink = await startSink(undefined, HIGH_COUNT);
  const site = await openSite(await server.database('priorities'));
  try {
    const rounds = await measureRounds({ rounds: count }, async (keep) => {
      await fillBulk(site);
      const { high, other, share, rate } = await measure(site, sink, seconds * 5);
      keep(HIGH, high);
      keep(OTHER, other);
      keep(SHARE, share);
      keep(RATE, rate);
    });
    const wait = (name: string, series: string) => {
      const [ms, ratios] = [rounds.values(series), rounds.values(series).map((value) => value / MAX_WAIT_MS)];
      const label = `p99 of ${name}, accept to 250 ÷ ${MAX_WAIT_MS} ms`;
      return line('P', label, `${median(ms).toFixed(0)} ms`, ratios, { at_most: 1 });
    };
    const lines = [
      wait(`${PACE}/s high`, HIGH),
      wait(`${PACE}/s normal from another workspace`, OTHER),
      line('P', 'share of bulk among accepted messages', '', rounds.values(SHARE), { at_least: 0.05 }),
      line(
        'P',
        `accepted, of ${HIGH_COUNT}/s that the receiver accepts`,
        `${median(rounds.values(RATE)).toFixed(0)}/s`,
      ),
    ];
    return [{ title: `Priorities alongside ${BULK} bulk messages, medians`, lines, rounds }];
  } finally {
    await site.stop();
    await sink.stop();
  }
}

async function openSite(url: string): Promise<Site> {
  const product = await prepareProduct(url, 2);
  const opened = await openServices(product, { name: 'bench-priorities', connections: 12 }, () => undefined);
  const rows = await opened.services.sql<{ workspace_id: string; name: string }[]>`
    select workspace_id, name from domains where not sandbox order by name`;
  const [first, second] = [rows[0]?.workspace_id, rows.at(-1)?.workspace_id];
  if (!first || !second || first === second) throw new Error('two workspaces with a domain are needed');
  return {
    services: opened.services,
    workspace_ids: [first, second],
    async stop() {
      await opened.stop();
      await product.stop();
    },
  };
}

/** Refills the first workspace's backlog of due bulk messages, as far as earlier rounds have used it up. */
async function fillBulk({ services, workspace_ids: [workspace_id] }: Site): Promise<void> {
  const [open] = await services.sql<{ count: number }[]>`
    select count(*)::int as count from messages where priority = 'bulk' and status <> 'delivered'`;
  const missing = BULK - (open?.count ?? 0);
  await services.sql.begin(async (tx) => {
    await tx`set local statement_timeout = '5min'`;
    await tx`
      create temporary table filled on commit drop as
      select derived_id('msg', id_floor(clock_now()), random()::text) as stem, gen_random_uuid() as job_id
      from generate_series(1, ${missing}::int)`;
    await tx`
      insert into messages (workspace_id, id, status, mode, from_address, from_email, from_domain, to_addresses,
        cc_addresses, bcc_addresses, subject, tags, metadata, recipient_count, request_id, created_at, event_count,
        last_event_type, last_event_at, priority)
      select ${workspace_id}, stem, 'queued', 'live', 'app@mail0.example.com', 'app@mail0.example.com',
        'mail0.example.com', array['to@example.net'], '{}', '{}', 'News', '{}', '{}', 1, derived_id('req', stem, ''),
        clock_now(), 1, 'email.queued', clock_now(), 'bulk'
      from filled`;
    await tx`
      insert into bodies (workspace_id, message_id, text, headers, attachments)
      select ${workspace_id}, stem, repeat('News. ', 100), '{}', '[]' from filled`;
    await tx`
      insert into recipients (workspace_id, message_id, id, email, domain, kind, state, due_at, job_id)
      select ${workspace_id}, stem, derived_id('rcp', stem, stem::text), 'to@example.net', 'example.net', 'to', 'queued',
        clock_now(), job_id
      from filled`;
    await services.jobs.insertion(
      tx,
      'delivery.attempt',
      tx`select job_id as id, jsonb_build_object('workspace_id', ${workspace_id}::uuid, 'message_id', stem,
        'recipient_id', derived_id('rcp', stem, stem::text)) as data, null::timestamptz as start_after, -1 as priority
        from filled`,
    );
  });
  await services.sql`vacuum analyze`;
}

interface PriorityResult {
  readonly high: number;
  readonly other: number;
  readonly share: number;
  /** Messages of any priority that the receiver accepted per second. */
  readonly rate: number;
}

async function measure(site: Site, sink: Sink, seconds: number): Promise<PriorityResult> {
  const { services, workspace_ids } = site;
  const [own, theirs] = workspace_ids.map((workspace_id) => createContext(services, { kind: 'system', workspace_id }));
  if (!own || !theirs) throw new Error('two workspaces are needed');
  const high: string[] = [];
  const other: string[] = [];
  let count = 0;
  let took_ms = 0;
  await pumping(site, sink, async () => {
    // The lane reaches its rate before anything is measured.
    await pause(LEAD_MS);
    const [before, began] = [sink.count(), performance.now()];
    await Promise.all([
      sendAtPace(own, 'high', 'app@mail0.example.com', seconds, high),
      sendAtPace(theirs, 'normal', 'app@mail1.example.com', seconds, other),
    ]);
    count = sink.count() - before;
    took_ms = performance.now() - began;
    const given_up_at = performance.now() + MAX_REST_MS;
    while ((await openAmong(services, [...high, ...other])) > 0 && performance.now() < given_up_at) await pause(50);
  });
  return {
    high: await waitOf(services, high),
    other: await waitOf(services, other),
    share: Math.max(0, count - high.length - other.length) / Math.max(1, count),
    rate: (count / took_ms) * 1000,
  };
}

async function sendAtPace(
  ctx: Context,
  priority: Priority,
  from: string,
  seconds: number,
  ids: string[],
): Promise<void> {
  const started = performance.now();
  const sends: Promise<void>[] = [];
  for (let count = 0; count < PACE * seconds; count++) {
    await pause(Math.max(0, started + (count / PACE) * 1000 - performance.now()));
    const mail = { from, to: 'to@example.net', subject: 'Hello', text: 'Hello. '.repeat(100), priority };
    sends.push(invoke(ctx, sendMessage, mail).then(({ id }) => void ids.push(id)));
  }
  await Promise.all(sends);
}

async function openAmong({ sql }: Services, ids: readonly string[]): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from messages where id = any (${ids}::uuid[]) and status <> 'delivered'`;
  return row?.count ?? 0;
}

/** Returns the p99 from accept to the receiver's reply. */
async function waitOf({ sql }: Services, ids: readonly string[]): Promise<number> {
  const rows = await sql<{ ms: number }[]>`
    select extract(epoch from
      case when m.status = 'delivered' then coalesce(max(a.finished_at), clock_now()) else clock_now() end
      - m.created_at)::float8 * 1000 as ms
    from messages m left join attempts a on a.message_id = m.id and a.workspace_id = m.workspace_id
    where m.id = any (${ids}::uuid[]) group by m.id, m.created_at, m.status order by 1`;
  return percentile(
    rows.map((row) => row.ms),
    99,
  );
}

/** Runs a worker with one lane to the receiver. */
async function pumping({ services }: Site, sink: Sink, work: () => Promise<void>): Promise<void> {
  const transport = createSmtpTransport({
    host: '127.0.0.1',
    port: sink.port,
    secure: false,
    tls: 'none',
    max_connections: 40,
    helo_name: 'bench',
  });
  const mailer: Mailer = {
    send: (...mail) => transport.send(...mail),
    laneOf: () => 'relay',
    stop: () => transport.stop(),
  };
  const holds = startHoldCache(services);
  const pump = startDeliveryPump(services, { live: mailer, sandbox: mailer }, holds);
  try {
    await work();
  } finally {
    await pump.stop();
    await holds.stop();
    await mailer.stop();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
