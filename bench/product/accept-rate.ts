import type { LoadResult } from '../measure/load.ts';
import { processorSeconds } from '../measure/processor-time.ts';
import { runSends } from '../measure/wrk.ts';
import type { AcceptTarget } from './accept-target.ts';
import type { ProductProcess } from './product.ts';

export interface AcceptLoad {
  readonly keys: number;
  readonly connections: number;
  readonly seconds: number;
}

export interface AcceptResult extends LoadResult {
  /** CPU time per message: of these processes, and of Postgres if the target has a postmaster. */
  readonly node_us: number;
  readonly postgres_us: number;
}

/** Returns the messages accepted per second by these processes, after one second of warm-up, and their CPU time. */
export async function acceptRate(
  target: AcceptTarget,
  start: () => Promise<readonly ProductProcess[]>,
  { keys, connections, seconds }: AcceptLoad,
): Promise<AcceptResult> {
  await target.reset();
  const processes = await start();
  try {
    const port = processes.map((process) => process.port);
    const requests = target.requests.slice(0, keys);
    const warm = await runSends({ port, connections, seconds: 1, requests });
    const groups = [
      processes.map((process) => process.pid),
      target.postmaster === undefined ? [] : [target.postmaster],
    ];
    const before = groups.map(processorSeconds);
    const result = await runSends({ port, connections, seconds, requests });
    const [node_us = 0, postgres_us = 0] = groups.map(
      (pids, index) => ((processorSeconds(pids) - (before[index] ?? 0)) / (result.rate * seconds)) * 1e6,
    );
    await requireAllStored(target, [warm, result], connections);
    return { ...result, node_us, postgres_us };
  } finally {
    for (const process of processes) await process.stop();
  }
}

/**
 * Throws unless every response was a 202 and every message answered with a 202 is in the table. Otherwise the rate does
 * not count.
 */
async function requireAllStored(
  target: AcceptTarget,
  results: readonly LoadResult[],
  connections: number,
): Promise<void> {
  const accepted = results.reduce((sum, { statuses }) => sum + (statuses.get(202) ?? 0), 0);
  const request_count = results.reduce(
    (sum, { statuses }) => sum + [...statuses.values()].reduce((all, count) => all + count, 0),
    0,
  );
  const stored = await target.countMessages();
  // Requests in flight when the load ends may be stored even though their response was not read.
  if (accepted !== request_count || stored < accepted || stored > accepted + results.length * connections) {
    throw new Error(`${request_count} answers, ${accepted} of them 202, ${stored} messages stored`);
  }
}
