import { buildSlowFlush, startBenchServer } from './database.ts';
import { type LoadResult, median } from './load.ts';
import { type ProductDatabase, type ProductProcess, prepareProduct, startObvious, startProduct } from './product.ts';
import { createRawLimit, type RawLimit } from './raw-limit.ts';
import { type Line, medianRatio, printLines } from './table.ts';
import { runSends } from './wrk.ts';

const KEYS = 100;
const CONNECTIONS = 64;

export interface AcceptOptions {
  readonly rounds: number;
  readonly seconds: number;
}

type Start = (url: string) => Promise<ProductProcess[]>;

const one: Start = async (url) => [await startProduct(url, { ROLES: 'rest' })];
const two: Start = (url) => Promise.all([startProduct(url, { ROLES: 'rest' }), startProduct(url, { ROLES: 'rest' })]);
const obvious: Start = async (url) => [await startObvious(url, 'separate')];
const statement: Start = async (url) => [await startObvious(url, 'one-statement')];

/** A1 to A5: the accept beside the raw limit of the same server, and beside the obvious design. */
export async function benchAccept({ rounds, seconds }: AcceptOptions): Promise<void> {
  const server = await startBenchServer();
  const limit = await createRawLimit(await server.database('limit'));
  const product = await prepareProduct(await server.database('product'), KEYS);
  const l1: number[] = [];
  const results = new Map<string, LoadResult[]>();
  const measure = async (name: string, start: Start, keys: number, connections: number) => {
    results.set(name, [...(results.get(name) ?? []), await loadOnce(product, start, keys, connections, seconds)]);
  };
  try {
    for (let round = 0; round < rounds; round++) {
      l1.push((await limit.measure(seconds)).rate);
      await measure('one process', one, KEYS, CONNECTIONS);
      await measure('two processes', two, KEYS, CONNECTIONS);
      await measure('one key', one, 1, CONNECTIONS);
      await measure('obvious', obvious, KEYS, CONNECTIONS);
      await measure('one connection', one, KEYS, 1);
      await measure('one statement, one connection', statement, KEYS, 1);
    }
  } finally {
    await product.stop();
    await limit.stop();
    await server.stop();
  }
  const rates = (name: string) => (results.get(name) ?? []).map((result) => result.rate);
  const p50s = (name: string) => (results.get(name) ?? []).map((result) => result.p50_ms);
  const shown = (name: string) => {
    const all = results.get(name) ?? [];
    const p50 = median(all.map((result) => result.p50_ms)).toFixed(1);
    const p99 = median(all.map((result) => result.p99_ms)).toFixed(1);
    return `${median(rates(name)).toFixed(0)}/s  p50 ${p50} ms  p99 ${p99} ms`;
  };
  const tail = (results.get('one process') ?? []).map((result) => result.p99_ms / result.p50_ms);
  const lines: Line[] = [
    {
      id: 'L1',
      what: `begin, insert message, insert job, commit: ${limit.method}`,
      value: `${median(l1).toFixed(0)}/s`,
      ratio: null,
      goal: null,
    },
    {
      id: 'A1',
      what: `accept, ${CONNECTIONS} connections, ${KEYS} keys, one process ÷ L1`,
      value: shown('one process'),
      ratio: medianRatio(rates('one process'), l1),
      goal: { at_least: 1.2 },
    },
    {
      id: 'A1',
      what: 'the same, two processes ÷ L1',
      value: shown('two processes'),
      ratio: medianRatio(rates('two processes'), l1),
      goal: { at_least: 1.2 },
    },
    {
      id: 'A2',
      what: 'the same, one process, one key ÷ A1',
      value: shown('one key'),
      ratio: medianRatio(rates('one key'), rates('one process')),
      goal: { at_least: 0.9 },
    },
    {
      id: 'A4',
      what: 'A1 ÷ the obvious design',
      value: shown('obvious'),
      ratio: medianRatio(rates('one process'), rates('obvious')),
      goal: { at_least: 8 },
    },
    {
      id: 'A5',
      what: 'one connection, p50 ÷ one statement for each request',
      value: shown('one connection'),
      ratio: medianRatio(p50s('one connection'), p50s('one statement, one connection')),
      goal: { at_most: 1 },
    },
    { id: 'A5', what: 'at saturation, p99 ÷ p50', value: '', ratio: median(tail), goal: { at_most: 4 } },
  ];
  printLines(`Accept, ${rounds} rounds of ${seconds} s, medians`, lines);
}

/** A3: one hot key on a disk whose flush takes two milliseconds more. */
export async function benchSlowDisk({ rounds, seconds }: AcceptOptions): Promise<void> {
  const environment = buildSlowFlush(2000);
  if (!environment) {
    process.stdout.write('\nA3 needs a C compiler to slow the flushes, and there is none.\n');
    return;
  }
  const server = await startBenchServer(environment);
  const limit: RawLimit = await createRawLimit(await server.database('limit'));
  const product = await prepareProduct(await server.database('product'), 1);
  const l1: number[] = [];
  const ours: LoadResult[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      l1.push((await limit.measure(seconds)).rate);
      ours.push(await loadOnce(product, one, 1, CONNECTIONS, seconds));
    }
  } finally {
    await product.stop();
    await limit.stop();
    await server.stop();
  }
  const rates = ours.map((result) => result.rate);
  printLines(`Accept on a disk whose flush takes 2 ms more, ${rounds} rounds of ${seconds} s, medians`, [
    { id: 'L1', what: 'the raw limit on that disk', value: `${median(l1).toFixed(0)}/s`, ratio: null, goal: null },
    {
      id: 'A3',
      what: 'accept, one process, one key ÷ L1',
      value: `${median(rates).toFixed(0)}/s`,
      ratio: medianRatio(rates, l1),
      goal: { at_least: 1.8 },
    },
  ]);
}

async function loadOnce(
  product: ProductDatabase,
  start: Start,
  keys: number,
  connections: number,
  seconds: number,
): Promise<LoadResult> {
  await product.reset();
  const processes = await start(product.url);
  try {
    const port = processes.map((process) => process.port);
    const requests = product.requests.slice(0, keys);
    const warm = await runSends({ port, connections, seconds: 1, requests });
    const result = await runSends({ port, connections, seconds, requests });
    await requireAllStored(product, [warm, result], connections);
    return result;
  } finally {
    for (const process of processes) await process.stop();
  }
}

/** A rate counts only if every answer was a 202 and every 202 is in the table. */
async function requireAllStored(
  product: ProductDatabase,
  results: readonly LoadResult[],
  connections: number,
): Promise<void> {
  const accepted = results.reduce((sum, { statuses }) => sum + (statuses.get(202) ?? 0), 0);
  const answered = results.reduce(
    (sum, { statuses }) => sum + [...statuses.values()].reduce((all, count) => all + count, 0),
    0,
  );
  const [row] = await product.sql<{ count: number }[]>`select count(*)::int as count from messages`;
  const stored = row?.count ?? 0;
  // Requests under way when the load ended may be stored without their answer having been read.
  if (accepted !== answered || stored < accepted || stored > accepted + results.length * connections) {
    throw new Error(`${answered} answers, ${accepted} of them 202, ${stored} messages stored`);
  }
}
