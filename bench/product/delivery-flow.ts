import { ARRIVAL_LIMIT_MS, arrival, type Flow, measureFlow, stopAll, WARM_SECONDS } from '../measure/flow.ts';
import { runLoad } from '../measure/load.ts';
import { mailLatency, type PacedFlow, type PacedLoad } from '../measure/mail-latency.ts';
import { signatureRate } from '../measure/signature-rate.ts';
import { runSends } from '../measure/wrk.ts';
import { startSinkProcess } from '../receivers/sink-process.ts';
import { createLetterSender } from './letter-sender.ts';
import { type ProductDatabase, startProduct } from './product.ts';
import { type Letter, letter } from './sample.ts';
import { vacuum } from './vacuum.ts';

const CONNECTIONS = 50;
/** The messages in a drained queue, for each of `--seconds`: 30,000 by default, which take a worker about 13 s. */
export const DRAINED_PER_SECOND = 7500;
/** The first part of a drain is warm-up, so that most of the code that a message runs has been compiled. */
export const WARM_PART = 1 / 5;

export function deliveryEnvironment(sink_port: number): Readonly<Record<string, string>> {
  return { DELIVERY: `smtp://127.0.0.1:${sink_port}`, RETURN_PATH_DOMAIN: 'bounces.example.com' };
}

/**
 * Measures the flow from HTTP to the receiver through the whole product, with the roles rest and worker in one process
 * each.
 */
export async function flowThroughProduct(
  product: ProductDatabase,
  bytes: number,
  seconds: number,
  prepare?: (sink_port: number) => Promise<void>,
): Promise<Flow> {
  const sink = await startSinkProcess();
  await product.reset();
  await prepare?.(sink.port);
  const rest = await startProduct(product, { ...deliveryEnvironment(sink.port), ROLES: 'rest' });
  const worker = await startProduct(product, { ...deliveryEnvironment(sink.port), ROLES: 'worker' });
  const requests = product.requestsOf(letter(bytes));
  // Requests that wrk has in flight when its time is over are accepted, but wrk does not count them.
  const load = async (duration: number): Promise<number> => {
    const before = await product.countMessages();
    await runSends({ port: rest.port, connections: CONNECTIONS, seconds: duration, requests });
    return (await product.countMessages()) - before;
  };
  try {
    await arrival(sink, await load(WARM_SECONDS));
    return await measureFlow(sink, [rest.pid, worker.pid, product.postmaster], () => load(seconds));
  } finally {
    await stopAll([worker, rest, sink]);
  }
}

export interface Drain {
  readonly flow: Flow;
  /** RSA-2048 signatures per second: the mean of a measurement right before and one right after. */
  readonly signatures: number;
}

/** Measures how fast a worker drains a queue that was filled while no worker was running. */
export async function drainProduct(
  product: ProductDatabase,
  words: Letter,
  count: number,
  signing_seconds: number,
  prepare?: (sink_port: number) => Promise<void>,
): Promise<Drain> {
  const sink = await startSinkProcess();
  try {
    await prepare?.(sink.port);
    const filled = await fillQueue(product, sink.port, words, count);
    const before = signatureRate(signing_seconds);
    const worker = await startProduct(product, { ...deliveryEnvironment(sink.port), ROLES: 'worker' });
    try {
      const remaining = filled - (await arrival(sink, Math.ceil(filled * WARM_PART)));
      const flow = await measureFlow(sink, [worker.pid, product.postmaster], async () => remaining);
      await worker.stop();
      return { flow, signatures: (before + signatureRate(signing_seconds)) / 2 };
    } finally {
      await worker.stop();
    }
  } finally {
    await sink.stop();
  }
}

/** Accepts messages while no worker is running; returns how many. */
export async function fillQueue(
  product: ProductDatabase,
  sink_port: number,
  words: Letter,
  count: number,
): Promise<number> {
  await product.reset();
  const requests = product.requestsOf(words);
  const rest = await startProduct(product, { ...deliveryEnvironment(sink_port), ROLES: 'rest' });
  try {
    const filling = { port: rest.port, connections: CONNECTIONS, seconds: ARRIVAL_LIMIT_MS / 1000, count, requests };
    await runLoad(filling);
  } finally {
    await rest.stop();
  }
  const filled = await product.countMessages();
  await vacuum(product.sql);
  return filled;
}

/** Measures messages that are submitted one by one, at a steady pace. */
export function paceThroughProduct(product: ProductDatabase, bytes: number, paced: PacedLoad): Promise<PacedFlow> {
  return mailLatency(paced, async (sink_port) => {
    await product.reset();
    const rest = await startProduct(product, { ...deliveryEnvironment(sink_port), ROLES: 'rest' });
    const worker = await startProduct(product, { ...deliveryEnvironment(sink_port), ROLES: 'worker' });
    const sender = createLetterSender(product, rest.port);
    return {
      pids: [rest.pid, product.postmaster],
      send: (subject) => sender.send({ ...letter(bytes), subject }),
      async stop() {
        sender.stop();
        await stopAll([worker, rest]);
      },
    };
  });
}
