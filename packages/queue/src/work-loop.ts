import type { Job, JobHold } from './catalogue.ts';

/** The result of one run of a handler. */
export interface Run<D> {
  readonly job: Job<D>;
  readonly started_at: Date;
  /** How long the job waited between being due and starting. */
  readonly wait_ms: number;
  readonly duration_ms: number;
  /** Null on success. */
  readonly error: Fault | null;
}

/** The stored part of an error: its name and message, and no other property. */
export interface Fault {
  readonly name: string;
  readonly message: string;
}

export interface WorkOptions<D> {
  handler(data: D): Promise<void>;
  /** Returns the concurrency limit of this process. Read before each fetch, so it may change. */
  concurrency(): number;
  /** Called before the job is settled. If it throws, the error is reported and nothing else changes. */
  onEnd?(run: Run<D>): Promise<void>;
}

export interface Work {
  /** Returns the jobs currently running in this process. */
  held(): readonly JobHold[];
  /** Fetches immediately. */
  poll(): void;
  /** Stops fetching, and returns jobs that do not finish in time to the queue. */
  stop(): Promise<void>;
}

export interface FetchedJob<D> {
  readonly job: Job<D>;
  readonly started_at: Date;
  readonly wait_ms: number;
}

/** The queue interface that the loop needs. */
export interface WorkSource<D> {
  fetch(count: number): Promise<readonly FetchedJob<D>[]>;
  touch(holds: readonly JobHold[]): Promise<void>;
  complete(hold: JobHold): Promise<void>;
  fail(hold: JobHold, error: Fault): Promise<void>;
  /** Makes the job due for other processes immediately, without using up a retry. */
  handBack(hold: JobHold): Promise<void>;
  onError(error: unknown): void;
}

// Wakes are hints, and no wake is sent for scheduled jobs or for jobs that become due later.
const POLL_MS = 5000;
const TOUCH_MS = 10_000;
const MAX_WORDS = 1000;
const SETTLE_TRIES = 4;
const SETTLE_PAUSE_MS = 250;
// A stop waits this long for handlers; another process then repeats unfinished jobs. The lanes have settled their own
// jobs before then.
const STOP_MS = 1500;

/** Runs a handler for the jobs of one queue up to its concurrency, and fetches as soon as a slot is free. */
export function startWork<D>(options: WorkOptions<D>, source: WorkSource<D>): Work {
  const running = new Map<string, { readonly hold: JobHold; readonly ended: Promise<void> }>();
  let fetching: Promise<void> | null = null;
  let wake_pending = false;
  let stopped = false;
  let timer: NodeJS.Timeout | null = null;

  const poll = () => {
    if (stopped) return;
    if (fetching) {
      wake_pending = true;
      return;
    }
    const free = options.concurrency() - running.size;
    if (free <= 0) {
      rest();
      return;
    }
    wake_pending = false;
    fetching = source
      .fetch(free)
      .then((jobs) => {
        for (const fetched of jobs) start(fetched);
        wake_pending ||= jobs.length === free;
      })
      .catch(source.onError)
      .then(() => {
        fetching = null;
        if (wake_pending) poll();
        else rest();
      });
  };

  const rest = () => {
    if (timer) clearTimeout(timer);
    if (!stopped) timer = setTimeout(poll, POLL_MS);
  };

  const start = (fetched: FetchedJob<D>) => {
    const { id, retry_count } = fetched.job;
    const hold = { id, retry_count };
    const done = run(fetched, hold).then(() => {
      running.delete(id);
      poll();
    });
    running.set(id, { hold, ended: done });
  };

  const run = async ({ job, started_at, wait_ms }: FetchedJob<D>, hold: JobHold) => {
    const began = performance.now();
    const thrown = await attempt(() => options.handler(job.data));
    const duration_ms = performance.now() - began;
    const error = thrown === null ? null : faultOf(thrown);
    const untold = await attempt(async () => options.onEnd?.({ job, started_at, wait_ms, duration_ms, error }));
    if (untold !== null) source.onError(untold);
    if (thrown !== null) source.onError(thrown);
    // After the last try, the job's heartbeat stops and the job runs again.
    for (let tries = 1; ; tries++) {
      const unsettled = await attempt(() => (error === null ? source.complete(hold) : source.fail(hold, error)));
      if (unsettled === null) return;
      source.onError(unsettled);
      if (tries === SETTLE_TRIES) return;
      await new Promise((resolve) => setTimeout(resolve, SETTLE_PAUSE_MS * 2 ** tries));
    }
  };

  const toucher = setInterval(() => {
    const holds = [...running.values()].map(({ hold }) => hold);
    if (holds.length > 0) source.touch(holds).catch(source.onError);
  }, TOUCH_MS);
  poll();

  return {
    held: () => [...running.values()].map(({ hold }) => hold),
    poll,
    async stop() {
      stopped = true;
      if (timer) clearTimeout(timer);
      await fetching;
      const { promise: timeout, resolve } = Promise.withResolvers<void>();
      const deadline = setTimeout(resolve, STOP_MS);
      await Promise.race([Promise.all([...running.values()].map(({ ended: done }) => done)), timeout]);
      clearTimeout(deadline);
      clearInterval(toucher);
      if (timer) clearTimeout(timer);
      await Promise.all([...running.values()].map(({ hold }) => source.handBack(hold).catch(source.onError)));
    },
  };
}

/** Returns the thrown error, or null. */
async function attempt(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
    return null;
  } catch (error) {
    return error ?? new Error('nothing was thrown');
  }
}

function faultOf(thrown: unknown): Fault {
  const [name, message] = thrown instanceof Error ? [thrown.name, thrown.message] : ['Error', String(thrown)];
  return { name, message: message.replace(/\p{Cc}/gu, ' ').slice(0, MAX_WORDS) };
}
