import { type Priority, priorities, priorityWeights } from '@postrider/core/priorities';

/**
 * Decides which priority is next, by weight. Smooth weighted round-robin spreads the turns of a light priority among
 * the turns of a heavy priority. The most urgent priority goes first.
 */
export class PriorityTurns {
  readonly #credit: Record<Priority, number> = { high: 0, normal: 0, bulk: 0 };

  /**
   * Returns the next of the waiting priorities, or null if no priority waits. A priority that does not wait accumulates
   * no credit.
   */
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
