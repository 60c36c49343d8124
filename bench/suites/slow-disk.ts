import { measureRounds } from '../measure/rounds.ts';
import { median, ratiosOf } from '../measure/statistics.ts';
import type { BenchOptions } from '../options.ts';
import { createRawLimit } from '../peers/raw-limit.ts';
import { acceptRate } from '../product/accept-rate.ts';
import { type BenchServer, buildSlowFlush, onBenchServer } from '../product/database.ts';
import { prepareProduct, startProduct } from '../product/product.ts';
import { line, type Report } from '../report/table.ts';

const CONNECTIONS = 64;
const FLUSH_US = 2000;
const L1 = 'L1 on the slow disk, /s';
const ACCEPT = 'one process, one key, /s';

/** Measures A3: one hot key on a disk whose flush takes two extra milliseconds. */
export async function benchSlowDisk(options: BenchOptions): Promise<Report[]> {
  const environment = buildSlowFlush(FLUSH_US);
  if (!environment) {
    process.stdout.write('\nA3 needs a C compiler to slow down flushes, and none is installed.\n');
    return [];
  }
  return onBenchServer((server) => measureSlowDisk(server, options), environment);
}

async function measureSlowDisk(server: BenchServer, { rounds: count, seconds }: BenchOptions): Promise<Report[]> {
  const limit = await createRawLimit(await server.database('limit'));
  const product = await prepareProduct(await server.database('product'), 1);
  try {
    const rounds = await measureRounds({ rounds: count }, async (keep) => {
      keep(L1, (await limit.measure(seconds)).rate);
      const start = async () => [await startProduct(product, { ROLES: 'rest' })];
      keep(ACCEPT, (await acceptRate(product, start, { keys: 1, connections: CONNECTIONS, seconds })).rate);
    });
    const [limits, rates] = [rounds.values(L1), rounds.values(ACCEPT)];
    const lines = [
      line('L1', 'the limit on that disk', `${median(limits).toFixed(0)}/s`),
      line('A3', 'accept, one process, one key ÷ L1', `${median(rates).toFixed(0)}/s`, ratiosOf(rates, limits), {
        at_least: 1.8,
      }),
    ];
    return [{ title: `Accept on a disk whose flush takes 2 ms longer, ${seconds} s per case, medians`, lines, rounds }];
  } finally {
    await product.stop();
    await limit.stop();
  }
}
