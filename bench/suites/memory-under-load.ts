import { freePort } from '@postrider/testing/free-port';
import { arrival, stopAll } from '../measure/flow.ts';
import { requireOnly, runLoad } from '../measure/load.ts';
import { peakMegabytes } from '../measure/process-memory.ts';
import { measureRounds } from '../measure/rounds.ts';
import { median } from '../measure/statistics.ts';
import type { BenchOptions } from '../options.ts';
import { type BenchServer, onBenchServer } from '../product/database.ts';
import { deliveryEnvironment } from '../product/delivery-flow.ts';
import { prepareProduct, startProduct } from '../product/product.ts';
import { startSinkProcess } from '../receivers/sink-process.ts';
import { line, type Report } from '../report/table.ts';

const GOAL_MB = 600;
// Each sender may have only a few bodies read concurrently, so it takes several senders to reach the process limit.
const KEYS = 4;
const CONCURRENCY = 20;
/** In base64 this makes a body of 13.6 MB, close to the maximum message size. */
const ATTACHMENT_BYTES = 10_200_000;
const LIMIT_S = 120;
const PEAK = 'peak memory, MB';

/** Measures the peak memory of one process while twenty 10 MB messages are accepted concurrently and delivered. */
export function benchMemoryUnderLoad(options: BenchOptions): Promise<Report[]> {
  return onBenchServer((server) => measureMemoryUnderLoad(server, options));
}

async function measureMemoryUnderLoad(server: BenchServer, { rounds: count }: BenchOptions): Promise<Report[]> {
  const product = await prepareProduct(await server.database('product'), KEYS);
  try {
    const content = Buffer.alloc(ATTACHMENT_BYTES, 'attachment').toString('base64');
    const attachments = [{ filename: 'attachment.txt', content, content_type: 'text/plain' }];
    const requests = product.requestsOf({ attachments });
    // Memory does not depend on who else uses the CPUs.
    const rounds = await measureRounds({ rounds: count, max_steal: 100 }, async (keep) => {
      await product.reset();
      const sink = await startSinkProcess();
      const running = await startProduct(product, {
        ...deliveryEnvironment(sink.port),
        CAPTURE_PORT: String(await freePort()),
        INBOUND_PORT: String(await freePort()),
      });
      try {
        const load = { port: running.port, connections: CONCURRENCY, seconds: LIMIT_S, count: CONCURRENCY, requests };
        requireOnly(202, await runLoad(load), 'a large send');
        await arrival(sink, CONCURRENCY);
        keep(PEAK, peakMegabytes(running.pid));
      } finally {
        await stopAll([running, sink]);
      }
    });
    const peaks = rounds.values(PEAK);
    const ratios = peaks.map((megabytes) => megabytes / GOAL_MB);
    const value = `${median(peaks).toFixed(0)} MB`;
    const lines = [line('', `peak memory (VmHWM) ÷ ${GOAL_MB} MB`, value, ratios, { at_most: 1 })];
    return [{ title: `${CONCURRENCY} concurrent sends of 13.6 MB, all roles in one process, medians`, lines, rounds }];
  } finally {
    await product.stop();
  }
}
