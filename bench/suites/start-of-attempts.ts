import { arrival, stopAll } from '../measure/flow.ts';
import { requireOnly } from '../measure/load.ts';
import { runOpenLoop } from '../measure/open-loop.ts';
import { measureRounds } from '../measure/rounds.ts';
import { ascending, median, percentile } from '../measure/statistics.ts';
import { runSends } from '../measure/wrk.ts';
import type { BenchOptions } from '../options.ts';
import { type BenchServer, onBenchServer } from '../product/database.ts';
import { deliveryEnvironment } from '../product/delivery-flow.ts';
import { type ProductDatabase, type ProductProcess, prepareProduct, startProduct } from '../product/product.ts';
import { startTimedSink, type TimedSink } from '../receivers/timed-sink.ts';
import { line, type Report } from '../report/table.ts';

const KEYS = 100;
const CONNECTIONS = 64;
const PEAK = 'accepted and delivered under full load, /s';
const TARGET_RATE = 'asked for, /s';
const ACCEPTED = 'accepted, /s';
const P50 = 'commit to first byte, p50 ms';
const P99 = 'commit to first byte, p99 ms';

/**
 * Measures J1: the time from the commit of a message to its first byte at the server, while the service runs at half
 * its peak rate.
 */
export function benchStartOfAttempts(options: BenchOptions): Promise<Report[]> {
  return onBenchServer((server) => measureStartOfAttempts(server, options));
}

async function measureStartOfAttempts(
  server: BenchServer,
  { rounds: count, seconds }: BenchOptions,
): Promise<Report[]> {
  const sink = await startTimedSink();
  const product = await prepareProduct(await server.database('product'), KEYS);
  try {
    const rounds = await measureRounds({ rounds: count }, async (keep) => {
      await product.reset();
      const rest = await startProduct(product, { ...deliveryEnvironment(sink.port), ROLES: 'rest' });
      const worker = await startProduct(product, { ...deliveryEnvironment(sink.port), ROLES: 'worker' });
      try {
        const peak = await peakRate(product, rest, sink, seconds);
        await product.reset();
        await sink.firstBytes();
        const { requests } = product;
        const before = sink.count();
        const load = { port: rest.port, rate: peak / 2, seconds: seconds * 2, requests };
        const accepted = await runOpenLoop(load);
        requireOnly(202, accepted, 'a send');
        await arrival(sink, before + (accepted.statuses.get(202) ?? 0));
        const waits = ascending(await readWaits(product, sink));
        keep(PEAK, peak);
        keep(TARGET_RATE, peak / 2);
        keep(ACCEPTED, accepted.rate);
        keep(P50, percentile(waits, 50));
        keep(P99, percentile(waits, 99));
      } finally {
        await stopAll([worker, rest]);
      }
    });
    const values = (series: string) => rounds.values(series);
    const per_second = (series: string) => `${median(values(series)).toFixed(0)}/s`;
    const ratios = values(ACCEPTED).map((rate, index) => rate / (values(TARGET_RATE)[index] ?? Number.NaN));
    const lines = [
      line('', 'accepted and delivered under full load', per_second(PEAK)),
      line('J1', 'p50, ms', '', values(P50), { at_most: 10 }),
      line('J1', 'p99, ms', '', values(P99), { at_most: 50 }),
      line('J1', 'accepted ÷ offered', per_second(ACCEPTED), ratios, { at_least: 0.95 }),
    ];
    return [{ title: `Commit to first byte at the receiver, ${seconds * 2} s at half load`, lines, rounds }];
  } finally {
    await product.stop();
    await sink.stop();
  }
}

/**
 * Returns the rate that accept and delivery sustain together: from the first request to the last message at the
 * receiver.
 */
async function peakRate(
  product: ProductDatabase,
  rest: ProductProcess,
  sink: TimedSink,
  seconds: number,
): Promise<number> {
  const load = async (duration: number) => {
    const [stored, started] = [await product.countMessages(), performance.now()];
    const { requests } = product;
    const before = sink.count();
    await runSends({ port: rest.port, connections: CONNECTIONS, seconds: duration, requests });
    const count = (await product.countMessages()) - stored;
    await arrival(sink, before + count);
    return (count / (performance.now() - started)) * 1000;
  };
  await load(1);
  return load(seconds);
}

/**
 * Returns the wait of each message. A message's timestamp in the database is from just before its commit, so the commit
 * itself counts.
 */
async function readWaits({ sql }: ProductDatabase, sink: TimedSink): Promise<number[]> {
  const first_bytes = await sink.firstBytes();
  const rows = await sql<{ id: string; at: number }[]>`
    select id, extract(epoch from created_at)::float8 * 1000 as at from messages`;
  return rows.map(({ id, at }) => {
    const began_at = first_bytes.get(id);
    if (began_at === undefined) throw new Error(`${id} did not come`);
    return began_at - at;
  });
}
