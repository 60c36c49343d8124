import { Worker } from 'node:worker_threads';

export interface Unreadable {
  readonly kind: 'unreadable';
  readonly why: string;
  /** True if the thread was lost to a time limit or a crash, in which case the message may still be readable. */
  readonly lost: boolean;
}

export interface ThreadReaderOptions {
  /** The time limit for one message. A thread that takes longer is terminated. */
  readonly deadline_ms?: number;
  readonly max_heap_mb?: number;
  /** The program that the thread runs, which sends one response per request. */
  readonly thread: URL;
}

export interface ThreadReader<Question, Answer> {
  /**
   * Parses a message. A message that crashes the thread or times out is unreadable, and the next message gets a new
   * thread. Rejects only if the reader is stopped first.
   */
  read(raw: Buffer, about: Question): Promise<Answer | Unreadable>;
  /** Returns the number of threads replaced because a message crashed or blocked them. */
  replaced(): number;
  stop(): Promise<void>;
}

const DEADLINE_MS = 5000;
const MAX_HEAP_MB = 64;

/**
 * Parses untrusted messages in a separate thread, one at a time, so that no message can block the event loop or exhaust
 * the memory of the process. The thread starts with the first message.
 */
export function createThreadReader<Question, Answer>(options: ThreadReaderOptions): ThreadReader<Question, Answer> {
  let thread: Worker | null = null;
  let replaced = 0;
  let stopped = false;
  let turn: Promise<unknown> = Promise.resolve();

  function start(): Worker {
    const started = new Worker(options.thread, {
      // The thread needs neither the flags nor the environment of the process.
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: options.max_heap_mb ?? MAX_HEAP_MB, maxYoungGenerationSizeMb: 8 },
    });
    // An error after the thread has responded, or because it is terminated, must not crash the process.
    started.on('error', () => undefined);
    // An idle thread must not keep the process alive.
    started.unref();
    return started;
  }

  function readNow(raw: Buffer, about: Question): Promise<Answer | Unreadable> {
    if (stopped) return Promise.reject(new Error('the reader has stopped'));
    thread ??= start();
    const reading = thread;
    return new Promise((resolve) => {
      const finish = (result: Answer | Unreadable, lost: boolean) => {
        clearTimeout(deadline);
        reading.off('message', onAnswer).off('error', broke).off('exit', onExit);
        if (lost) {
          thread = null;
          replaced += 1;
          void reading.terminate();
        }
        resolve(result);
      };
      const giveUp = (why: string) => finish({ kind: 'unreadable', why, lost: true }, true);
      const onAnswer = (result: Answer | Unreadable) => finish(result, false);
      const broke = (error: Error) => giveUp(error.message);
      const onExit = () => giveUp('the thread ended');
      const deadline = setTimeout(giveUp, options.deadline_ms ?? DEADLINE_MS, 'it took too long');
      reading.on('message', onAnswer).on('error', broke).on('exit', onExit);
      // The memory of this copy is transferred to the thread.
      const copy = Uint8Array.from(raw);
      reading.postMessage({ raw: copy, about }, [copy.buffer]);
    });
  }

  return {
    read(raw, about) {
      const result = turn.then(() => readNow(raw, about));
      turn = result.catch(() => undefined);
      return result;
    },
    replaced: () => replaced,
    async stop() {
      stopped = true;
      await turn;
      await thread?.terminate();
    },
  };
}

/**
 * Uses several threads, so that a message that hangs does not block the others. Each message goes to the least busy
 * thread.
 */
export function createThreadReaders<Question, Answer>(
  count: number,
  options: ThreadReaderOptions,
): Pick<ThreadReader<Question, Answer>, 'read' | 'stop'> {
  const readers = Array.from({ length: count }, () => ({
    reader: createThreadReader<Question, Answer>(options),
    busy: 0,
  }));
  return {
    async read(raw, about) {
      const free = readers.reduce((idlest, one) => (one.busy < idlest.busy ? one : idlest));
      free.busy += 1;
      try {
        return await free.reader.read(raw, about);
      } finally {
        free.busy -= 1;
      }
    },
    async stop() {
      await Promise.all(readers.map(({ reader }) => reader.stop()));
    },
  };
}
