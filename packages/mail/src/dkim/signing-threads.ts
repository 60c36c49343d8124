import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { signOnPool, type UnsignedPart } from './signature.ts';
import type { Batch, SignedBatch } from './signing-thread.ts';

export interface SigningThreads {
  /** Returns the signatures of a message, in base64. */
  sign(mail: readonly UnsignedPart[]): Promise<readonly string[]>;
  /** Returns the number of running threads. */
  running(): number;
}

export interface SigningThreadsOptions {
  readonly count?: number;
  /** After this long without work, threads exit and free their memory. */
  readonly idle_ms?: number;
  /** The program that a thread runs. */
  readonly thread?: URL;
}

interface SigningRequest {
  readonly mail: readonly UnsignedPart[];
  readonly resolve: (signatures: readonly string[] | Promise<readonly string[]>) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  /** Sent batches without a response, oldest first. Responses arrive in the same order. */
  readonly batches: (readonly SigningRequest[])[];
}

const THREAD = new URL('./signing-thread.ts', import.meta.url);
const IDLE_MS = 30_000;
const MAX_THREADS = 8;
// With a second batch queued, a thread never waits for the event loop.
const MAX_BATCHES = 2;
// A batch of this size takes about 5 ms with RSA.
const MAX_BATCH_SIZE = 16;

/**
 * Creates threads that sign in batches. Handing a batch to a thread costs as much as handing one signature to the
 * process's pool. If the pool is woken for every single signature, its threads and the event loop compete for the
 * processors.
 */
export function createSigningThreads(options: SigningThreadsOptions = {}): SigningThreads {
  const count = options.count ?? Math.min(availableParallelism(), MAX_THREADS);
  const threads = new Set<Thread>();
  const waiting: SigningRequest[] = [];
  let handing_out = false;
  let idle_timer: NodeJS.Timeout | null = null;

  function start(): void {
    const worker = new Worker(options.thread ?? THREAD, {
      // The thread needs neither the flags nor the environment of the process.
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
    });
    const thread: Thread = { worker, batches: [] };
    worker.on('message', (signed: SignedBatch) => {
      const batch = thread.batches.shift() ?? [];
      handOut();
      settle(batch, signed);
      idle_timer?.refresh();
    });
    // The batches of a failed thread are signed on the pool when the thread exits.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      threads.delete(thread);
      for (const { mail, resolve } of thread.batches.splice(0).flat()) resolve(signOnPool(mail));
      handOut();
    });
    // An idle thread must not keep the process alive.
    worker.unref();
    threads.add(thread);
  }

  function stop(): void {
    idle_timer = null;
    for (const { worker } of threads) void worker.terminate();
    threads.clear();
  }

  function idled(): void {
    if (waiting.length === 0 && [...threads].every(({ batches }) => batches.length === 0)) stop();
    else idle_timer?.refresh();
  }

  /** Distributes the queue evenly among the threads with the fewest batches. */
  function handOut(): void {
    handing_out = false;
    if (waiting.length === 0) return;
    while (threads.size < count) start();
    idle_timer ??= setTimeout(idled, options.idle_ms ?? IDLE_MS).unref();
    const share = Math.min(MAX_BATCH_SIZE, Math.ceil(waiting.length / count));
    for (let busy = 0; busy < MAX_BATCHES; busy++) {
      for (const thread of threads) {
        if (thread.batches.length === busy && waiting.length > 0) give(thread, waiting.splice(0, share));
      }
    }
  }

  function give({ worker, batches }: Thread, batch: readonly SigningRequest[]): void {
    batches.push(batch);
    const keys = [...new Set(batch.flatMap(({ mail }) => mail.map(({ key }) => key)))];
    const messages = batch.map(({ mail }) => mail.map(({ text, key }) => [text, keys.indexOf(key)] as const));
    const message: Batch = { keys, messages };
    worker.postMessage(message);
  }

  return {
    sign(mail) {
      return new Promise((resolve, reject) => {
        waiting.push({ mail, resolve, reject });
        if (handing_out) return;
        handing_out = true;
        // Collects the messages of this turn of the event loop.
        setImmediate(handOut);
      });
    },
    running: () => threads.size,
  };
}

function settle(batch: readonly SigningRequest[], signed: SignedBatch): void {
  for (const [index, { resolve, reject }] of batch.entries()) {
    const one = signed[index] ?? { error: 'the thread gave no answer' };
    if ('error' in one) reject(new Error(one.error));
    else resolve(one);
  }
}
