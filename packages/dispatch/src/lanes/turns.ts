import { type Priority, priorities, priorityWeights } from '@postrider/core/priorities';

/**
 * Whose turn it is among priorities, by weight: smooth weighted round robin, so that turns of a light one are spread
 * among those of a heavy one. The most urgent begins.
 */
export class PriorityTurns {
  readonly #credit: Record<Priority, number> = { high: 0, normal: 0, bulk: 0 };

  /** The next of those that wait; null if none does. One that does not wait saves nothing up. */
  next(waits: (priority: Priority) => boolean): Priority | null {
    let best: Priority | null = null;
    let total = 0;
    for (const priority of priorities) {
      if (!waits(priority)) {
        this.#credit[priority] = 0;
        continue;
      }
      const weight = priorityWeights[priority];
      total += weight;
      this.#credit[priority] += weight;
      if (best === null || this.#credit[priority] > this.#credit[best]) best = priority;
    }
    if (best !== null) this.#credit[best] -= total;
    return best;
  }
}
