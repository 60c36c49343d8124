import type { AddressInfo } from 'node:net';
import { createServer, connect as dial, type Socket } from 'node:net';
import { createContext, invoke, type Services } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { claimDeliveries, settleDeliveries } from '@postrider/core/delivery';
import { fetchDeliveries } from '@postrider/core/lanes';
import type { Sql } from '@postrider/db';
import { startDeliveryPump, startHoldCache } from '@postrider/dispatch';
import { createSmtpTransport, type Mailer, type SendOutcome } from '@postrider/mail';
import { measureRounds } from '../measure/rounds.ts';
import { median, percentile, ratiosOf } from '../measure/statistics.ts';
import type { BenchOptions } from '../options.ts';
import { type BenchServer, onBenchServer } from '../product/database.ts';
import { prepareProduct } from '../product/product.ts';
import { openServices } from '../product/services.ts';
import { type Sink, startSink } from '../receivers/sink.ts';
import { line, type Report } from '../report/table.ts';

const DESTINATIONS = 20;
const BACKLOG = 300_000;
/** How many messages of the backlog pass through the queue; the others are inserted as parked. */
const PARKED_BY_WORKER = 15_000;
const CLAIMED_AT_ONCE = 200;
const CLAIMS = 15;
const DRAINED = 3000;
const PACE = 60;
const SLOW_MS = 300;

const domainOf = (index: number) => `d${index}.example.net`;
const BLOCKED = domainOf(0);
const SLOW = domainOf(1);

const CLAIM = 'a claim, ms';
const RATE = 'throughput of the others, /s';
const WAIT = 'p99 of the others, ms';
const without = (series: string) => `${series}, without`;
const alongside = (series: string) => `${series}, with`;

/**
 * Measures D5: the cost of a blocked destination with a backlog of 300,000 messages for the nineteen others, and of one
 * dead and one slow destination for the other eighteen. The pump runs in this process, with a lane per domain.
 */
export function benchLanes(options: BenchOptions): Promise<Report[]> {
  return onBenchServer((server) => measureLanes(server, options));
}

async function measureLanes(server: BenchServer, { rounds: count, seconds }: BenchOptions): Promise<Report[]> {
  const sink = await startSink();
  const plain = await openSite(await server.database('plain'), sink);
  const backlogged = await openSite(await server.database('backlogged'), sink);
  try {
    const parked = await blockDestination(backlogged);
    const rounds = await measureRounds({ rounds: count }, async (keep) => {
      keep(without(CLAIM), await claimTime(plain));
      keep(alongside(CLAIM), await claimTime(backlogged));
      keep(without(RATE), await drainRate(plain, sink));
      keep(alongside(RATE), await drainRate(backlogged, sink));
      keep(without(WAIT), await othersLatency(plain, {}, seconds * 2));
      keep(alongside(WAIT), await waitBesideTroubled(plain, sink, seconds * 2));
    });
    const ratios = (series: string) => ratiosOf(rounds.values(alongside(series)), rounds.values(without(series)));
    const figures = (series: string, digits: number) =>
      [alongside, without].map((side) => median(rounds.values(side(series))).toFixed(digits)).join(' ÷ ');
    const lines = [
      line('D5', 'messages for a closed destination parked by the worker', `${parked.toFixed(0)}/s`),
      line(
        'D5',
        `a claim of ${CLAIMED_AT_ONCE}, with the backlog ÷ without`,
        `${figures(CLAIM, 1)} ms`,
        ratios(CLAIM),
        {
          at_most: 1.5,
        },
      ),
      line('D5', 'throughput of the others, with ÷ without', `${figures(RATE, 0)}/s`, ratios(RATE), { at_least: 0.95 }),
      line(
        'R2',
        `p99 of the others at ${PACE}/s, one dead and one slow ÷ all healthy`,
        `${figures(WAIT, 0)} ms`,
        ratios(WAIT),
        { at_most: 2 },
      ),
    ];
    return [{ title: `${DESTINATIONS} destinations, medians`, lines, rounds }];
  } finally {
    await plain.stop();
    await backlogged.stop();
    await sink.stop();
  }
}

interface Site {
  readonly services: Services;
  readonly workspace_id: string;
  readonly sink_port: number;
  stop(): Promise<void>;
}

async function openSite(url: string, sink: Sink): Promise<Site> {
  const product = await prepareProduct(url, 1);
  const opened = await openServices(product, { name: 'bench-lanes', connections: 12 }, () => undefined);
  const { services } = opened;
  const [workspace] = await services.sql<
    { workspace_id: string }[]
  >`select workspace_id from domains where not sandbox`;
  return {
    services,
    workspace_id: workspace?.workspace_id ?? '',
    sink_port: sink.port,
    async stop() {
      await opened.stop();
      await product.stop();
    },
  };
}

/**
 * Adds messages that are due now, rotating over some domains. They are queued, or parked in the lanes of their domains.
 */
async function fill(
  { services, workspace_id }: Site,
  count: number,
  domains: readonly string[],
  place: 'queued' | 'parked' = 'queued',
): Promise<void> {
  await services.sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    await tx`
      create temporary table filled on commit drop as
      select derived_id('msg', id_floor(clock_now()), random()::text) as stem,
        gen_random_uuid() as job_id, (${[...domains]}::text[])[1 + i % ${domains.length}] as domain
      from generate_series(1, ${count}::int) as i`;
    await tx`
      insert into messages (workspace_id, id, status, mode, from_address, from_email, from_domain, to_addresses,
        cc_addresses, bcc_addresses, subject, tags, metadata, recipient_count, request_id, created_at, event_count,
        last_event_type, last_event_at)
      select ${workspace_id}, stem, 'queued', 'live', 'app@mail0.example.com', 'app@mail0.example.com',
        'mail0.example.com', array['to@' || domain], '{}', '{}', 'Hello', '{}', '{}', 1, derived_id('req', stem, ''), clock_now(), 1,
        'email.queued', clock_now()
      from filled`;
    await tx`
      insert into bodies (workspace_id, message_id, text, headers, attachments)
      select ${workspace_id}, stem, repeat('Hello. ', 100), '{}', '[]' from filled`;
    await tx`
      insert into recipients (workspace_id, message_id, id, email, domain, kind, state, due_at, job_id)
      select ${workspace_id}, stem, derived_id('rcp', stem, stem::text), 'to@' || domain, domain, 'to', 'queued', clock_now(), job_id
      from filled`;
    if (place === 'parked') {
      await tx`
        insert into parked_deliveries (job_id, lane, workspace_id, message_id, recipient_id, due_at)
        select job_id, domain, ${workspace_id}, stem, derived_id('rcp', stem, stem::text), clock_now() from filled`;
      return;
    }
    await services.jobs.insertion(
      tx,
      'delivery.attempt',
      tx`select job_id as id, jsonb_build_object('workspace_id', ${workspace_id}::uuid, 'message_id', stem,
        'recipient_id', derived_id('rcp', stem, stem::text)) as data, null::timestamptz as start_after, 0 as priority from filled`,
    );
  });
}

/**
 * Closes the lane of a destination and adds its backlog; returns how many queued messages per second the worker parked.
 */
async function blockDestination(site: Site): Promise<number> {
  const { sql } = site.services;
  await sql`
    insert into lanes (lane, closed_until, reason, last_reply, closings, tended_at)
    values (${BLOCKED}, clock_now() + interval '1 day', 'failing', '421 4.7.0 closed', 1, clock_now())`;
  await fill(site, BACKLOG - PARKED_BY_WORKER, [BLOCKED], 'parked');
  await fill(site, PARKED_BY_WORKER, [BLOCKED]);
  const started = performance.now();
  await pumping(site, {}, async () => {
    while ((await parkedCount(sql)) < BACKLOG) await pause(100);
  });
  const rate = (PARKED_BY_WORKER / (performance.now() - started)) * 1000;
  await sql`vacuum analyze`;
  return rate;
}

async function parkedCount(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from parked_deliveries`;
  return row?.count ?? 0;
}

const others = Array.from({ length: DESTINATIONS - 1 }, (_, index) => domainOf(index + 1));

/** Returns the milliseconds from fetching a batch to claiming it, without sending it. */
async function claimTime(site: Site): Promise<number> {
  const { services } = site;
  await fill(site, CLAIMS * CLAIMED_AT_ONCE, others);
  const times: number[] = [];
  for (let turn = 0; turn < CLAIMS; turn++) {
    const started = performance.now();
    const fetched = await fetchDeliveries(services, [
      { priority: 'normal', count: CLAIMED_AT_ONCE, created_after: null },
    ]);
    const claimed = await claimDeliveries(
      services,
      fetched.map(({ job }) => job),
    );
    times.push(performance.now() - started);
    await settleDeliveries(
      services,
      claimed.map((one) => ({ claimed: one, outcome: accepted, duration_ms: 1, handed_back: false })),
    );
  }
  return median(times);
}

/** Returns the messages per second to the nineteen others, from a filled queue. */
async function drainRate(site: Site, sink: Sink): Promise<number> {
  await fill(site, DRAINED, others);
  const before = sink.count();
  const started = performance.now();
  await pumping(site, {}, async () => {
    while (sink.count() - before < DRAINED) await pause(5);
  });
  return (DRAINED / (performance.now() - started)) * 1000;
}

/** Returns the p99 in milliseconds from accept to delivery for the eighteen healthy destinations. */
async function othersLatency(site: Site, ports: Readonly<Record<string, number>>, seconds: number): Promise<number> {
  const { services, workspace_id } = site;
  const ctx = createContext(services, { kind: 'system', workspace_id });
  const well = others.slice(1);
  const ids: string[] = [];
  await pumping(site, ports, async () => {
    const started = performance.now();
    const sends: Promise<void>[] = [];
    for (let count = 0; count < PACE * seconds; count++) {
      await pause(Math.max(0, started + (count / PACE) * 1000 - performance.now()));
      const to = `to@${domainOf(count % DESTINATIONS)}`;
      const mail = { from: 'app@mail0.example.com', to, subject: 'Hello', text: 'Hello. '.repeat(100) };
      sends.push(invoke(ctx, sendMessage, mail).then(({ id }) => void ids.push(id)));
    }
    await Promise.all(sends);
    while ((await openAmong(services.sql, ids, well)) > 0) await pause(20);
  });
  const rows = await services.sql<{ ms: number }[]>`
    select extract(epoch from m.delivered_at - m.created_at)::float8 * 1000 as ms
    from messages m join recipients r on r.message_id = m.id and r.workspace_id = m.workspace_id
    where m.id = any (${ids}::uuid[]) and r.domain = any (${well}::text[]) order by 1`;
  // Leftovers of the troubled destinations must not affect the next round.
  await services.sql`delete from lanes where lane in (${BLOCKED}, ${SLOW})`;
  await services.sql`update recipients set state = 'canceled' where state in ('queued', 'deferred', 'sending')`;
  await services.sql`truncate parked_deliveries`;
  return percentile(
    rows.map((row) => row.ms),
    99,
  );
}

async function waitBesideTroubled(site: Site, sink: Sink, seconds: number): Promise<number> {
  const slow = await startSlow(sink.port);
  const dead = await startSlow(sink.port);
  await dead.stop();
  try {
    return await othersLatency(site, { [BLOCKED]: dead.port, [SLOW]: slow.port }, seconds);
  } finally {
    await slow.stop();
  }
}

async function openAmong(sql: Sql, ids: readonly string[], domains: readonly string[]): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from recipients
    where message_id = any (${ids}::uuid[]) and domain = any (${domains}::text[]) and state <> 'delivered'`;
  return row?.count ?? 0;
}

async function pumping(site: Site, ports: Readonly<Record<string, number>>, work: () => Promise<void>): Promise<void> {
  const open = (port: number) =>
    createSmtpTransport({
      host: '127.0.0.1',
      port,
      secure: false,
      tls: 'none',
      max_connections: 40,
      helo_name: 'bench',
    });
  const well = open(site.sink_port);
  const troubled = new Map(Object.entries(ports).map(([domain, port]) => [domain, open(port)]));
  const laneOf = (to: string) => to.slice(to.lastIndexOf('@') + 1);
  const mailer: Mailer = {
    send: (envelope, raw, signal) => (troubled.get(laneOf(envelope.to)) ?? well).send(envelope, raw, signal),
    laneOf,
    stop: async () => void (await Promise.all([well, ...troubled.values()].map((transport) => transport.stop()))),
  };
  const holds = startHoldCache(site.services);
  const pump = startDeliveryPump(site.services, { live: mailer, sandbox: mailer }, holds);
  try {
    await work();
  } finally {
    await pump.stop();
    await holds.stop();
    await mailer.stop();
  }
}

/** Proxies connections to a server, delaying its replies. */
async function startSlow(port: number): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = dial({ port, host: '127.0.0.1', noDelay: true });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on('data', (chunk) => setTimeout(() => client.writable && client.write(chunk), SLOW_MS));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const accepted: SendOutcome = {
  kind: 'accepted',
  reply: { code: 250, enhanced: null, text: 'taken' },
  error: null,
  target: 'sink',
  address: null,
  tls_policy: 'none',
  tls: null,
  phases_ms: { connect: 0, tls: 0, mail: 0, data: 0 },
  stage: 'after_dot',
  transcript: '',
};
