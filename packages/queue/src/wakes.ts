import type { Fragment, Sql, Tx } from '@postrider/db';

const WAKE_CHANNEL = 'postrider_wake';
// Transactions that notify commit one after another, so wakes are sent after the commit and at most once every 5 ms.
const WAKE_EVERY_MS = 5;

/** Returns an expression that wakes the listeners of every process when its transaction commits. */
export function wakeOnCommit(sql: Sql | Tx, name: string): Fragment {
  return sql`pg_notify(${WAKE_CHANNEL}, ${name})::text`;
}

/** Hints that a queue has ready jobs, within this process and between processes. */
export class Wakes {
  readonly #sql: Sql;
  readonly #direct: Sql;
  readonly #onError: (error: unknown) => void;
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #pending = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #sent_at = Number.NEGATIVE_INFINITY;

  constructor({ sql, direct }: { readonly sql: Sql; readonly direct: Sql }, onError: (error: unknown) => void) {
    this.#sql = sql;
    this.#direct = direct;
    this.#onError = onError;
  }

  /** Wakes the listeners of this process. */
  readonly wakeLocal = (name: string): void => {
    for (const listener of this.#listeners.get(name) ?? []) listener();
  };

  /** Wakes the listeners of every process. */
  readonly wakeAll = (name: string): void => {
    this.wakeLocal(name);
    this.#pending.add(name);
    if (this.#timer) return;
    const wait_ms = this.#wait_ms();
    if (wait_ms <= 0) void this.#flush();
    else this.#timer = setTimeout(() => void this.#flush(), wait_ms);
  };

  /** Returns whether a wake may be sent now, which the caller then does with wakeOnCommit. */
  readonly claimWake = (): boolean => {
    if (this.#timer || this.#wait_ms() > 0) return false;
    this.#sent_at = performance.now();
    return true;
  };

  readonly onWake = (name: string, listener: () => void): (() => void) => {
    const set = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, set.add(listener));
    return () => set.delete(listener);
  };

  readonly listen = async (): Promise<void> => {
    await this.#direct.listen(WAKE_CHANNEL, this.wakeLocal);
  };

  #wait_ms(): number {
    return this.#sent_at + WAKE_EVERY_MS - performance.now();
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
  }

  async #flush(): Promise<void> {
    this.#timer = null;
    this.#sent_at = performance.now();
    const names = [...this.#pending];
    this.#pending.clear();
    try {
      await this.#sql`select pg_notify(${WAKE_CHANNEL}, name) from unnest(${names}::text[]) as names(name)`;
    } catch (error) {
      // A lost wake costs only one poll interval.
      this.#onError(error);
    }
  }
}
