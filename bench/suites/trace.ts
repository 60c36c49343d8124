import { arrival } from '../measure/flow.ts';
import { mailLatency } from '../measure/mail-latency.ts';
import type { BenchOptions } from '../options.ts';
import { type BenchServer, onBenchServer } from '../product/database.ts';
import { DRAINED_PER_SECOND, deliveryEnvironment, fillQueue, WARM_PART } from '../product/delivery-flow.ts';
import { createLetterSender } from '../product/letter-sender.ts';
import { type ProductDatabase, prepareProduct } from '../product/product.ts';
import { letter } from '../product/sample.ts';
import { inScratchFolder } from '../product/scratch-folder.ts';
import { startSinkProcess } from '../receivers/sink-process.ts';
import { type Line, line, type Report } from '../report/table.ts';
import { STATEMENT_SETTINGS } from '../trace/statements.ts';
import type { StepTime } from '../trace/steps.ts';
import { areasIn, openWindow, startTraced, stepsIn, type TracedProcess, type Window } from '../trace/window.ts';

const KEYS = 10;
const BYTES = 4 * 1024;
const PACE = 50;
/** Areas and threads below this are left out. */
const MIN_US = 3;

/**
 * Shows where the time of a message goes: processor time by process, thread and area of code, time of Postgres by
 * statement, and the time between the steps of a delivery. Profiling itself costs a tenth to a fifth.
 */
export function traceDeliver({ seconds }: BenchOptions): Promise<Report[]> {
  const work = (server: BenchServer) =>
    inScratchFolder('trace', async (folder) => {
      const product = await prepareProduct(await server.database('trace'), KEYS);
      try {
        return [await traceDrain(product, folder, seconds), await tracePaced(product, folder, seconds)];
      } finally {
        await product.stop();
      }
    });
  return onBenchServer(work, {}, STATEMENT_SETTINGS);
}

async function traceDrain(product: ProductDatabase, folder: string, seconds: number): Promise<Report> {
  const sink = await startSinkProcess();
  try {
    const filled = await fillQueue(product, sink.port, letter(BYTES), seconds * DRAINED_PER_SECOND);
    const worker = await startTraced(product, folder, 'worker, drain', {
      ...deliveryEnvironment(sink.port),
      ROLES: 'worker',
    });
    const started = performance.now();
    let window: Window;
    let rate: number;
    try {
      const before = await arrival(sink, Math.ceil(filled * WARM_PART));
      const end = await openWindow(product, [worker]);
      const began = performance.now();
      await arrival(sink, filled);
      rate = ((filled - before) / (performance.now() - began)) * 1000;
      window = await end(filled - before);
    } finally {
      await worker.stop();
    }
    // All messages waited for the worker, so the steps count from its start.
    const steps = await stepsIn(product, worker, 0, performance.timeOrigin + started);
    return reportOf(`Drain of ${filled} messages, ${rate.toFixed(0)}/s`, window, [worker], steps);
  } finally {
    await sink.stop();
  }
}

async function tracePaced(product: ProductDatabase, folder: string, seconds: number): Promise<Report> {
  let processes: TracedProcess[] = [];
  let end: ((count: number) => Promise<Window>) | null = null;
  let window: Window | null = null;
  let since_ms = 0;
  const count = seconds * 2 * PACE;
  await product.reset();
  const { p99_ms } = await mailLatency({ seconds: seconds * 2, pace: PACE }, async (sink_port) => {
    const env = deliveryEnvironment(sink_port);
    const rest = await startTraced(product, folder, 'REST, paced', { ...env, ROLES: 'rest' });
    const worker = await startTraced(product, folder, 'worker, paced', { ...env, ROLES: 'worker' });
    processes = [rest, worker];
    const sender = createLetterSender(product, rest.port);
    return {
      send: (subject) => sender.send({ ...letter(BYTES), subject }),
      async warmed() {
        since_ms = performance.timeOrigin + performance.now();
        end = await openWindow(product, processes);
      },
      async stop() {
        window = (await end?.(count)) ?? null;
        sender.stop();
        for (const running of processes.toReversed()) await running.stop();
      },
    };
  });
  if (window === null) throw new Error('the paced messages were not measured');
  const [, worker] = processes;
  const steps = worker ? await stepsIn(product, worker, since_ms) : [];
  return reportOf(`${count} messages at ${PACE}/s, p99 ${p99_ms.toFixed(1)} ms`, window, processes, steps);
}

function reportOf(
  title: string,
  window: Window,
  processes: readonly TracedProcess[],
  steps: readonly StepTime[],
): Report {
  const us = (value: number) => `${value.toFixed(0)} µs`;
  const lines: Line[] = [line('', 'idle processors', `${window.idle_percent.toFixed(0)} %`)];
  const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);
  const largest = (costs: ReadonlyMap<string, number>) =>
    [...costs].filter(([, cost]) => cost >= MIN_US).toSorted(([, left], [, right]) => right - left);
  for (const traced of processes) {
    const threads = window.threads_us.get(traced.name) ?? new Map<string, number>();
    lines.push(line('', `${traced.name}: processor time per message`, us(sum(threads.values()))));
    lines.push(...largest(threads).map(([name, cost]) => line('', `    ${name}`, us(cost))));
    lines.push(line('', `  main thread by area, sampled`, ''));
    lines.push(...largest(areasIn(window, traced)).map(([area, cost]) => line('', `    ${area}`, us(cost))));
  }
  lines.push(line('', 'Postgres: processor time per message', us(window.postgres_us)));
  lines.push(line('', '  statement time, including waits', us(sum(window.statements.map((one) => one.us)))));
  for (const { text, calls, us: cost } of window.statements) {
    if (cost >= MIN_US) lines.push(line('', `    ${text}`, `${us(cost)}, ${calls} calls`));
  }
  for (const { step, p50_ms, p99_ms, total_p50_ms, total_p99_ms } of steps) {
    const value = `p50 ${p50_ms.toFixed(1)}, p99 ${p99_ms.toFixed(1)} ms`;
    lines.push(
      line('', `→ ${step}`, `${value}; from the start ${total_p50_ms.toFixed(1)}, ${total_p99_ms.toFixed(1)}`),
    );
  }
  return { title, lines, rounds: null };
}
