import { Worker } from 'node:worker_threads';

export interface Unreadable {
  readonly kind: 'unreadable';
  readonly why: string;
  /** True if the thread was lost to a time limit or a crash, in which case the message may still be readable. */
  readonly lost: boolean;
}

export interface ThreadReaderOptions {
  /** The time limit for one message, without the start of the thread. A thread that takes longer is terminated. */
  readonly deadline_ms?: number;
  readonly max_heap_mb?: number;
  /** The program that the thread runs, which sends a message once it has started, then one response per request. */
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
// On a busy machine, loading the modules takes longer than parsing any message may.
const START_MS = 60_000;
const MAX_HEAP_MB = 64;

interface StartingThread {
  readonly worker: Worker;
  /** Null once the thread has started; otherwise why it did not. */
  readonly fault: Promise<string | null>;
}

/**
 * Parses untrusted messages in a separate thread, one at a time, so that no message can block the event loop or exhaust
 * the memory of the process. The thread starts with the first message.
 */
export function createThreadReader<Question, Answer>(options: ThreadReaderOptions): ThreadReader<Question, Answer> {
  let thread: StartingThread | null = null;
  let replaced = 0;
  let stopped = false;
  let turn: Promise<unknown> = Promise.resolve();

  function start(): StartingThread {
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
    const fault = new Promise<string | null>((resolve) => {
      const late = setTimeout(resolve, START_MS, 'the thread did not start');
      late.unref();
      started
        .once('message', () => resolve(null))
        .once('error', ({ message }: Error) => resolve(message))
        .once('exit', () => resolve('the thread ended'));
    });
    return { worker: started, fault };
  }

  function lose({ worker }: StartingThread, why: string): Unreadable {
    thread = null;
    replaced += 1;
    void worker.terminate();
    return { kind: 'unreadable', why, lost: true };
  }

  async function readNow(raw: Buffer, about: Question): Promise<Answer | Unreadable> {
    if (stopped) throw new Error('the reader has stopped');
    thread ??= start();
    const current = thread;
    const fault = await current.fault;
    if (fault !== null) return lose(current, fault);
    const reading = current.worker;
    return new Promise((resolve) => {
      const finish = (result: Answer | Unreadable) => {
        clearTimeout(deadline);
        reading.off('message', onAnswer).off('error', broke).off('exit', onExit);
        resolve(result);
      };
      const giveUp = (why: string) => finish(lose(current, why));
      const onAnswer = (result: Answer | Unreadable) => finish(result);
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
      await thread?.worker.terminate();
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
