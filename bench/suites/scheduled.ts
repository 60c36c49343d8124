import { setTimeout as delay } from 'node:timers/promises';
import { catalogue } from '@postrider/core';
import { createQueue } from '@postrider/queue';
import { measureRounds } from '../measure/rounds.ts';
import { ascending, median, percentile } from '../measure/statistics.ts';
import type { BenchOptions } from '../options.ts';
import { type BenchServer, onBenchServer } from '../product/database.ts';
import { deliveryEnvironment } from '../product/delivery-flow.ts';
import { type ProductDatabase, prepareProduct, secretOf, startProduct } from '../product/product.ts';
import { vacuum } from '../product/vacuum.ts';
import { startTimedSink, type TimedSink } from '../receivers/timed-sink.ts';
import { line, type Report } from '../report/table.ts';

const FUTURE_JOBS = 500_000;
const EMAILS = 50;
const SPREAD_MS = 10_000;
const LEAD_MS = 2000;
const PATIENCE_MS = 20_000;
const EARLIEST = 'smallest delay, ms';
const P50 = 'delay at p50, ms';
const P99 = 'delay at p99, s';

/** Measures J2: how late scheduled messages begin to arrive, while half a million jobs are scheduled for later. */
export function benchScheduled(options: BenchOptions): Promise<Report[]> {
  return onBenchServer((server) => measureScheduled(server, options));
}

async function measureScheduled(server: BenchServer, { rounds: count }: BenchOptions): Promise<Report[]> {
  const sink = await startTimedSink();
  const product = await prepareProduct(await server.database('scheduled'), 1);
  try {
    await addFutureJobs(product);
    const rounds = await measureRounds({ rounds: count }, async (keep) => {
      const delays_ms = ascending(await lateness(product, sink));
      keep(EARLIEST, delays_ms[0] ?? Number.NaN);
      keep(P50, percentile(delays_ms, 50));
      keep(P99, percentile(delays_ms, 99) / 1000);
    });
    const earliest = Math.min(...rounds.values(EARLIEST));
    const value = `smallest ${earliest.toFixed(0)} ms, p50 ${median(rounds.values(P50)).toFixed(0)} ms`;
    const lines = [
      line('J2', 'delay at p99, s', value, rounds.values(P99), { at_most: 1 }),
      line('J2', 'most that a message was early, ms', '', [Math.max(0, -earliest)], { at_most: 0 }),
    ];
    return [{ title: `${EMAILS} scheduled messages alongside ${FUTURE_JOBS} future jobs, medians`, lines, rounds }];
  } finally {
    await product.stop();
    await sink.stop();
  }
}

/** Returns, for each message, the milliseconds from when it was due to its first byte at the receiver. */
async function lateness(product: ProductDatabase, sink: TimedSink): Promise<number[]> {
  const running = await startProduct(product, { ...deliveryEnvironment(sink.port), ROLES: 'rest,worker' });
  try {
    const before = sink.count();
    const started = performance.timeOrigin + performance.now();
    const due = new Map<string, number>();
    for (let index = 0; index < EMAILS; index++) {
      const at = Math.round(started + LEAD_MS + (index * SPREAD_MS) / EMAILS);
      due.set(await schedule(product, running.port, at), at);
    }
    const given_up = started + LEAD_MS + SPREAD_MS + PATIENCE_MS;
    while (sink.count() < before + EMAILS && performance.timeOrigin + performance.now() < given_up) await delay(100);
    const first_bytes = await sink.firstBytes();
    return [...due].map(([id, at]) => (first_bytes.get(id) ?? Number.POSITIVE_INFINITY) - at);
  } finally {
    await running.stop();
  }
}

async function schedule({ requests }: ProductDatabase, port: number, at: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/email/send`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secretOf(requests[0] ?? Buffer.alloc(0))}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      from: 'app@mail0.example.com',
      to: 'ada@rcpt.test',
      subject: 'Later',
      text: 'Later',
      scheduled_at: new Date(at).toISOString(),
    }),
  });
  const text = await response.text();
  const id = /msg_\w+/.exec(text)?.[0];
  if (id === undefined) throw new Error(`a send returned ${response.status}: ${text}`);
  return id;
}

async function addFutureJobs({ sql, url }: ProductDatabase): Promise<void> {
  const jobs = createQueue({
    sql,
    url,
    catalogue,
    application_name: 'bench',
    max_connections: 1,
    supervise: false,
    on_error(error) {
      throw error;
    },
  });
  await jobs.start();
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    await jobs.insertion(
      tx,
      'delivery.attempt',
      tx`
        select gen_random_uuid() as id,
          jsonb_build_object('workspace_id', no_id(), 'message_id', derived_id('msg', no_id(), i::text),
            'recipient_id', derived_id('rcp', no_id(), i::text)) as data,
          now() + interval '1 hour' + i * interval '5 seconds' as start_after, 0 as priority
        from generate_series(1, ${FUTURE_JOBS}::int) as i`,
    );
  });
  await jobs.stop();
  await vacuum(sql);
}
