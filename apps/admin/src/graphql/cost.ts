import { AppError } from '@postrider/core';
import type { Charged } from '@postrider/core/usage';
import type { FieldNode } from 'graphql';
import type { QueryCost } from './query-cost.ts';

/** Points of a series are plain numbers: so many are read and written as one object is. */
export const POINTS_OF_AN_OBJECT = 100;

/** Entries of lists that one answer may hold, however little they cost. */
const MOST_ENTRIES = 20_000;
/** After it nobody waits for the answer any more. */
export const LONGEST_MS = 15_000;

/** What a request asked for, what it got of that, and what its key has left. */
export class CostMeter {
  /** As it stood when something was last taken from the budget. */
  charged: Charged;
  /** A document was looked at, and its answer tells the cost. */
  answered = false;
  /** The request itself is a point. */
  requested = 1;
  /** What a dry run would cost, which takes nothing for it. */
  told: number | null = null;
  #per_entry: QueryCost['per_entry'] | null = null;
  #spared = 0;
  #entries = 0;
  #began = performance.now();

  constructor(charged: Charged) {
    this.charged = charged;
  }

  begin({ per_entry }: QueryCost): void {
    this.#per_entry = per_entry;
  }

  /** Each event of a stream is an answer of its own. */
  beginAnswer(): void {
    this.#entries = 0;
    this.#began = performance.now();
  }

  /**
   * Counts what lists have really brought, and ends what brings far too much or takes too long: each further list
   * of the request fails. It holds where a price is wrong, and where a timer does not get its turn.
   */
  noteEntries(count: number): void {
    this.#entries += count;
    if (this.#entries > MOST_ENTRIES)
      throw new AppError(
        'query_too_complex',
        `The answer has more than ${MOST_ENTRIES} entries; ask for smaller pages or fewer lists.`,
      );
    if (performance.now() - this.#began > LONGEST_MS)
      throw new AppError('unexpected', `The answer took longer than ${LONGEST_MS / 1000} s; ask for less at once.`);
  }

  /** Notes a page that held less than was asked for. */
  noteShortPage(node: FieldNode | undefined, missing: number): void {
    if (node && missing > 0) this.#spared += missing * (this.#per_entry?.get(node) ?? 0);
  }

  /** Notes points that were taken for what turned out to be smaller. */
  noteUnused(points: number): void {
    this.#spared += Math.max(0, points);
  }

  /** What need not have been taken. */
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
