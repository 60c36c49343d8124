import { Worker } from 'node:worker_threads';

export interface Unreadable {
  readonly kind: 'unreadable';
  readonly why: string;
  /** The thread was lost, by a time limit or a crash; the message may be readable all the same. */
  readonly lost: boolean;
}

export interface ThreadReaderOptions {
  /** The time limit for one mail; a slower one ends the thread. */
  readonly deadline_ms?: number;
  readonly max_heap_mb?: number;
  /** The program of the thread: one answer for each question. */
  readonly thread: URL;
}

export interface ThreadReader<Question, Answer> {
  /**
   * A mail that crashes or times out the thread is unreadable, and the next one gets a new thread. Rejects only when
   * the reader is stopped first.
   */
  read(raw: Buffer, about: Question): Promise<Answer | Unreadable>;
  /** The number of threads that a mail crashed or blocked. */
  replaced(): number;
  stop(): Promise<void>;
}

const DEADLINE_MS = 5000;
const MAX_HEAP_MB = 64;

/**
 * Parses untrusted mail in a thread of its own, one at a time, so that no mail can block the event loop or exhaust the
 * memory of the process. The thread starts with the first mail.
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
    // An error after its answer, or from being terminated, must not end the process.
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
      // A copy, whose memory is transferred to the thread.
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

/** Several threads, so that a mail that hangs does not stop the others; each mail goes to the one with the least to do. */
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
      const free = readers.reduce((least, one) => (one.busy < least.busy ? one : least));
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
