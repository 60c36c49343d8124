import { AppError } from '@postrider/core';
import type { Charged } from '@postrider/core/usage';
import type { FieldNode } from 'graphql';
import type { QueryCost } from './query-cost.ts';

/** The number of time series points that cost as much as one object. Points are plain numbers. */
export const POINTS_PER_OBJECT = 100;

/** The maximum number of list entries in one response, regardless of their cost. */
export const MAX_ENTRIES = 20_000;
/** The response timeout. */
export const MAX_MS = 15_000;

/** The cost of one request: the requested cost, the actual cost, and the key's remaining budget. */
export class CostMeter {
  /** The budget after the last charge. */
  charged: Charged;
  /** Whether the document was executed, in which case the response includes the cost. */
  answered = false;
  /** A request costs at least one point. */
  requested = 1;
  /** The cost that a dry run reports without charging it. */
  reported: number | null = null;
  #per_entry: QueryCost['per_entry'] | null = null;
  /** The first response limit that was exceeded. */
  excess: AppError | null = null;
  #spared = 0;
  #entries = 0;
  #began = performance.now();

  constructor(charged: Charged) {
    this.charged = charged;
  }

  begin({ per_entry }: QueryCost): void {
    this.#per_entry = per_entry;
  }

  /** Resets the per-response limits. Each event of a stream is a separate response. */
  startResponse(): void {
    this.excess = null;
    this.#entries = 0;
    this.#began = performance.now();
  }

  /**
   * Counts list entries and fails every further list of a response that is too large or too slow, even if a complexity
   * is wrong or a busy event loop delays the timeout.
   */
  noteEntries(count: number): void {
    this.#entries += count;
    this.excess ??= this.#exceeded();
    if (this.excess) throw this.excess;
  }

  #exceeded(): AppError | null {
    if (this.#entries > MAX_ENTRIES)
      return new AppError(
        'query_too_complex',
        `The response has more than ${MAX_ENTRIES} entries. Request smaller pages or fewer lists.`,
      );
    if (performance.now() - this.#began > MAX_MS)
      return new AppError('unexpected', `The response took longer than ${MAX_MS / 1000} s. Request less data.`);
    return null;
  }

  /** Credits the cost of the entries that are missing from a short page. */
  recordShortPage(node: FieldNode | undefined, missing: number): void {
    if (node && missing > 0) this.#spared += missing * (this.#per_entry?.get(node) ?? 0);
  }

  /** Credits points that were charged up front but not used. */
  recordUnused(points: number): void {
    this.#spared += Math.max(0, points);
  }

  /** The points to refund. */
  get spared(): number {
    return Math.min(Math.floor(this.#spared), this.requested - 1);
  }

  get actual(): number {
    return this.requested - this.spared;
  }

  get remaining(): number {
    const { limit, remaining } = this.charged.window;
    return Math.min(limit, remaining + this.spared);
  }
}
