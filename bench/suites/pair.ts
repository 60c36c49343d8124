import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { costOf, keepFlow, rateOf } from '../measure/flow.ts';
import { type Keep, measureRounds, type Rounds } from '../measure/rounds.ts';
import { median, ratiosOf } from '../measure/statistics.ts';
import type { BenchOptions } from '../options.ts';
import { acceptRate } from '../product/accept-rate.ts';
import { type BenchServer, onBenchServer } from '../product/database.ts';
import { DRAINED_PER_SECOND, drainProduct, flowThroughProduct, paceThroughProduct } from '../product/delivery-flow.ts';
import { type ProductDatabase, prepareProduct, startProduct, THIS_CHECKOUT } from '../product/product.ts';
import { htmlLetter, letter } from '../product/sample.ts';
import { commitOf } from '../report/result-file.ts';
import { type Line, line, type Report } from '../report/table.ts';

const ACCEPT_KEYS = 100;
const ACCEPT_CONNECTIONS = 64;
const DELIVER_KEYS = 10;
const SMALL = 4 * 1024;
const PACE = 50;

const ACCEPT_NODE = 'accept, Node, µs per email';
const ACCEPT_POSTGRES = 'accept, Postgres, µs per email';
const DRAIN_SIGNATURES = 'drain ÷ signatures';

/** Suites that can compare a pair of checkouts. */
export const pairable: readonly string[] = ['accept', 'deliver'];

type Side = 'this' | 'other';
const seriesOf = (side: Side, series: string) => `${side}: ${series}`;

/**
 * Measures A1, D1 and D3 of another checkout and of this one, each with its own schema, on one server and under the
 * same load. The two alternate, and every second round starts with the other one, so that machine drift affects both
 * equally.
 */
export function benchPair(options: BenchOptions, other: string, suites: readonly string[]): Promise<Report[]> {
  return onBenchServer((server) => measurePair(server, options, other, suites));
}

async function measurePair(
  server: BenchServer,
  { rounds: count, seconds }: BenchOptions,
  other: string,
  suites: readonly string[],
): Promise<Report[]> {
  const reports: Report[] = [];
  const commits = `${commitOf(THIS_CHECKOUT)} (this) ÷ ${commitOf(other)} (other)`;
  if (suites.includes('accept')) {
    const rounds = await inTurns(server, 'accept', other, ACCEPT_KEYS, count, async (product, keep) => {
      const start = async () => [await startProduct(product, { ROLES: 'rest' })];
      const load = { keys: ACCEPT_KEYS, connections: ACCEPT_CONNECTIONS, seconds };
      const { rate, p50_ms, p99_ms, node_us, postgres_us } = await acceptRate(product, start, load);
      keep(rateOf('accept'), rate);
      keep(ACCEPT_NODE, node_us);
      keep(ACCEPT_POSTGRES, postgres_us);
      keep('accept, p50 ms', p50_ms);
      keep('accept, p99 ms', p99_ms);
    });
    const lines = [
      pairLine(rounds, 'A1', rateOf('accept'), 0),
      pairLine(rounds, 'A1', ACCEPT_NODE, 0),
      pairLine(rounds, 'A1', ACCEPT_POSTGRES, 0),
      pairLine(rounds, 'A1', 'accept, p50 ms', 1),
      pairLine(rounds, 'A1', 'accept, p99 ms', 1),
    ];
    reports.push({ title: `Accept: ${commits}`, lines, rounds });
  }
  if (suites.includes('deliver')) {
    const rounds = await inTurns(server, 'deliver', other, DELIVER_KEYS, count, async (product, keep) => {
      keepFlow(keep, 'delivery', await flowThroughProduct(product, SMALL, seconds));
      const { flow, signatures } = await drainProduct(product, letter(SMALL), seconds * DRAINED_PER_SECOND, seconds);
      keepFlow(keep, 'drain', flow);
      keep(DRAIN_SIGNATURES, flow.rate / signatures);
      const paced = await paceThroughProduct(product, SMALL, { seconds: seconds * 2, pace: PACE });
      keep('p99 at 50/s, ms', paced.p99_ms);
      keep('REST and Postgres at 50/s, µs per email', paced.cpu_us);
      keepFlow(
        keep,
        'drain, HTML only',
        (await drainProduct(product, htmlLetter(SMALL), seconds * DRAINED_PER_SECOND, 1)).flow,
      );
    });
    const lines = [
      pairLine(rounds, 'D1', rateOf('delivery'), 0),
      pairLine(rounds, 'D1', costOf('delivery'), 0),
      pairLine(rounds, 'D3', DRAIN_SIGNATURES, 3),
      pairLine(rounds, 'D3', rateOf('drain'), 0),
      pairLine(rounds, 'D3', costOf('drain'), 0),
      pairLine(rounds, 'D4', 'p99 at 50/s, ms', 1),
      pairLine(rounds, 'D4', 'REST and Postgres at 50/s, µs per email', 0),
      pairLine(rounds, '', rateOf('drain, HTML only'), 0),
      pairLine(rounds, '', costOf('drain, HTML only'), 0),
    ];
    reports.push({ title: `Delivery: ${commits}`, lines, rounds });
  }
  return reports;
}

async function inTurns(
  server: BenchServer,
  name: string,
  other: string,
  keys: number,
  rounds: number,
  measure: (product: ProductDatabase, keep: Keep) => Promise<void>,
): Promise<Rounds> {
  const products: Record<Side, ProductDatabase> = {
    other: await prepareOther(await server.database(`${name}_other`), keys, other),
    this: await prepareProduct(await server.database(`${name}_this`), keys),
  };
  try {
    return await measureRounds({ rounds }, async (keep, round) => {
      const order: Side[] = round % 2 === 0 ? ['other', 'this'] : ['this', 'other'];
      for (const side of order) await measure(products[side], (series, value) => keep(seriesOf(side, series), value));
    });
  } finally {
    for (const product of Object.values(products)) await product.stop();
  }
}

/** Prepares a database with the other checkout's own benchmark, because its tables may differ from ours. */
async function prepareOther(url: string, keys: number, checkout: string): Promise<ProductDatabase> {
  const program = pathToFileURL(join(checkout, 'bench/product/product.ts'));
  const { prepareProduct: prepare } = (await import(program.href)) as {
    readonly prepareProduct: typeof prepareProduct;
  };
  return prepare(url, keys, checkout);
}

function pairLine(rounds: Rounds, id: string, series: string, digits: number): Line {
  const [own_values, others] = [rounds.values(seriesOf('this', series)), rounds.values(seriesOf('other', series))];
  const value = `${median(own_values).toFixed(digits)} ÷ ${median(others).toFixed(digits)}`;
  return line(id, series, value, ratiosOf(own_values, others));
}
