import type { Services } from '@postrider/core';
import { type Settled, settleDeliveries, withoutReply } from '@postrider/core/delivery';
import type { BatchingPolicy } from './batching-policy.ts';
import type { InFlight } from './in-flight.ts';

const MAX_PAUSE_MS = 1000;
/** A batch that the database rejects is split after this many tries. */
const TRIES_TOGETHER = 3;
/** A single result that the database rejects even without the server's reply is given up after this many tries. */
const TRIES_REFUSED = 30;

interface FinishedAttempt {
  readonly entry: InFlight;
  readonly result: Settled;
}

/** Records results in batches: send → settle. */
export class Settler {
  readonly #services: Services;
  readonly #batching: BatchingPolicy;
  readonly #onRecorded: (count: number, took_ms: number) => void;
  readonly #onSettled: (entries: readonly InFlight[]) => void;
  /** Results that are not in a batch yet. */
  readonly #finished: FinishedAttempt[] = [];
  /** Runs while results wait to be batched. */
  #timer: NodeJS.Timeout | null = null;
  #given_up = false;

  /** onRecorded is called with recorded results; onSettled with results that are no longer pending, recorded or not. */
  constructor(
    services: Services,
    batching: BatchingPolicy,
    onRecorded: (count: number, took_ms: number) => void,
    onSettled: (entries: readonly InFlight[]) => void,
  ) {
    this.#services = services;
    this.#batching = batching;
    this.#onRecorded = onRecorded;
    this.#onSettled = onSettled;
  }

  add(entry: InFlight, result: Settled): void {
    this.#finished.push({ entry, result });
    this.#flushIn(this.#batching.came(this.#finished.length));
  }

  /** Returns the number of results that are not in a batch yet. */
  waiting(): number {
    return this.#finished.length;
  }

  /** Records the waiting results immediately. */
  flush = (): void => {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const batch = this.#finished.splice(0);
    if (batch.length === 0) return;
    this.#batching.begun(batch.length);
    // A failed batch does not block others: it is retried concurrently.
    let awaited = true;
    const onTried = () => {
      if (!awaited) return;
      awaited = false;
      this.#flushIn(this.#batching.ended(this.#finished.length));
    };
    const results = batch.map(({ result }) => result);
    void this.#settle(results, onTried).then(() => {
      onTried();
      this.#onSettled(batch.map(({ entry }) => entry));
    });
  };

  /** Gives up on results that cannot be recorded. Their leases expire. */
  giveUp(): void {
    this.#given_up = true;
  }

  get given_up(): boolean {
    return this.#given_up;
  }

  /** Starts the timer unless it is running. */
  #flushIn(wait_ms: number | null): void {
    if (wait_ms === 0) this.flush();
    else if (wait_ms !== null) this.#timer ??= setTimeout(this.flush, wait_ms);
  }

  /**
   * Results are kept for as long as the database is unavailable: the message has been sent, and without its result it
   * would be sent again. A result whose data the database rejects is found by bisection and recorded without the
   * server's text. Otherwise all messages of the batch would be sent again each time their leases expire.
   */
  async #settle(results: readonly Settled[], onTried: () => void, attempts = 0): Promise<void> {
    const { jobs, log } = this.#services;
    let batch = results;
    for (let attempt = attempts + 1; ; attempt++) {
      const began = performance.now();
      try {
        await settleDeliveries(this.#services, batch);
        // Webhook endpoints may be subscribed to these events.
        jobs.wakeLocal('webhook.deliver');
        this.#onRecorded(batch.length, performance.now() - began);
        return;
      } catch (error) {
        onTried();
        log.error({ err: error, count: batch.length, attempt }, 'failed to record delivery results');
        if (this.#given_up) return;
        if (attempt >= TRIES_TOGETHER && isRefused(error)) {
          if (attempt >= TRIES_REFUSED) return;
          if (batch.length > 1) {
            const middle = batch.length >> 1;
            const halves = [batch.slice(0, middle), batch.slice(middle)];
            await Promise.all(halves.map((half) => this.#settle(half, onTried, attempt)));
            return;
          }
          batch = batch.map(withoutReply);
        }
        await new Promise((resolve) => setTimeout(resolve, Math.min(MAX_PAUSE_MS, 50 * 2 ** attempt)));
      }
    }
  }
}

/**
 * Returns whether the database rejects the data itself (SQLSTATE classes 22 and 23), so that a retry cannot succeed.
 */
function isRefused(error: unknown): boolean {
  return (
    error instanceof Error && error.name === 'PostgresError' && 'code' in error && /^2[23]/.test(String(error.code))
  );
}
