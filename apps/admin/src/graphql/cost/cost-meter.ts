import { AppError } from '@postrider/core';
import type { Charged } from '@postrider/core/usage';
import type { FieldNode } from 'graphql';
import type { QueryCost } from './query-cost.ts';

/** Points of a time series are plain numbers; this many cost as much as one object. */
export const POINTS_OF_AN_OBJECT = 100;

/** The limit of list entries in one answer, whatever they cost. */
export const MAX_ENTRIES = 20_000;
/** The timeout of an answer. */
export const LONGEST_MS = 15_000;

/** The cost of one request: requested, actual, and what its key has left. */
export class CostMeter {
  /** The budget after the last charge. */
  charged: Charged;
  /** The document was executed, so its answer carries the cost. */
  answered = false;
  /** A request costs at least one point. */
  requested = 1;
  /** The cost that a dry run reports without charging it. */
  reported: number | null = null;
  #per_entry: QueryCost['per_entry'] | null = null;
  /** The limit of an answer that was exceeded first. */
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

  /** Resets the limits per answer; each event of a stream is one. */
  beginAnswer(): void {
    this.excess = null;
    this.#entries = 0;
    this.#began = performance.now();
  }

  /**
   * Counts list entries, and fails every further list of an answer that is too large or too slow. This holds even where
   * a complexity is wrong, or where a busy event loop delays the timeout.
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
    if (performance.now() - this.#began > LONGEST_MS)
      return new AppError('unexpected', `The response took longer than ${LONGEST_MS / 1000} s. Request less data.`);
    return null;
  }

  /** Credits the entries that a page did not have. */
  noteShortPage(node: FieldNode | undefined, missing: number): void {
    if (node && missing > 0) this.#spared += missing * (this.#per_entry?.get(node) ?? 0);
  }

  /** Credits points that were charged in advance and not used. */
  noteUnused(points: number): void {
    this.#spared += Math.max(0, points);
  }

  /** Points to refund. */
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
