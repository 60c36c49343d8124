import type { Charged } from '@postrider/core/usage';
import type { FieldNode } from 'graphql';
import type { QueryCost } from './query-cost.ts';

/** What a request asked for, what it got of that, and what its key has left. */
export class CostMeter {
  /** As it stood when something was last taken from the budget. */
  charged: Charged;
  /** A document was looked at, and its answer tells the cost. */
  answered = false;
  /** The request itself is a point. */
  requested = 1;
  #per_entry: QueryCost['per_entry'] | null = null;
  #spared = 0;

  constructor(charged: Charged) {
    this.charged = charged;
  }

  begin({ per_entry }: QueryCost): void {
    this.#per_entry = per_entry;
  }

  /** Notes a page that held less than was asked for. */
  noteShortPage(node: FieldNode | undefined, missing: number): void {
    if (node && missing > 0) this.#spared += missing * (this.#per_entry?.get(node) ?? 0);
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
