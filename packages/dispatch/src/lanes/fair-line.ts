import { type Priority, priorities } from '@postrider/core/priorities';
import { PriorityTurns } from './turns.ts';

/** The workspace and priority under which an item is queued. */
export interface Standing {
  readonly workspace_id: string;
  readonly priority: Priority;
}

/** One workspace's items in a line. */
class OwnLine<T> {
  readonly turns = new PriorityTurns();
  readonly waiting: Record<Priority, T[]> = { high: [], normal: [], bulk: [] };

  isEmpty(): boolean {
    return priorities.every((priority) => this.waiting[priority].length === 0);
  }
}

/**
 * A line in which workspaces take turns regardless of priority. Within a workspace, priorities take turns by weight.
 */
export class FairLine<T> {
  readonly #standingOf: (item: T) => Standing;
  /** The lines of the workspaces, in turn order. */
  readonly #workspaces = new Map<string, OwnLine<T>>();
  readonly #counts: Record<Priority, number> = { high: 0, normal: 0, bulk: 0 };

  constructor(standingOf: (item: T) => Standing) {
    this.#standingOf = standingOf;
  }

  get length(): number {
    return this.#counts.high + this.#counts.normal + this.#counts.bulk;
  }

  countOf(priority: Priority): number {
    return this.#counts[priority];
  }

  ownCount({ workspace_id, priority }: Standing): number {
    return this.#workspaces.get(workspace_id)?.waiting[priority].length ?? 0;
  }

  push(item: T): void {
    const { workspace_id, priority } = this.#standingOf(item);
    let own = this.#workspaces.get(workspace_id);
    if (!own) {
      own = new OwnLine();
      this.#workspaces.set(workspace_id, own);
    }
    own.waiting[priority].push(item);
    this.#counts[priority] += 1;
  }

  /**
   * Removes the next eligible item of the first eligible workspace, and moves that workspace to the end of the line.
   */
  shift(
    isEligible: (workspace_id: string) => boolean = () => true,
    canSend: (item: T) => boolean = () => true,
  ): T | null {
    for (const [workspace_id, own] of this.#workspaces) {
      // Checked once per workspace, not per item: a workspace that waits for a turn keeps the credit of its priorities.
      if (!isEligible(workspace_id)) continue;
      const priority = own.turns.next((candidate) => {
        const [first] = own.waiting[candidate];
        return first !== undefined && canSend(first);
      });
      const item = priority && own.waiting[priority].shift();
      if (!priority || item === undefined || item === null) continue;
      this.#counts[priority] -= 1;
      this.#workspaces.delete(workspace_id);
      if (!own.isEmpty()) this.#workspaces.set(workspace_id, own);
      return item;
    }
    return null;
  }

  /**
   * Removes the last item of the workspace with the most items of a priority. Returns null if no workspace has more
   * than `unless_over` items.
   */
  popLongest(priority: Priority, unless_over: number): T | null {
    let longest: { workspace_id: string; own: OwnLine<T>; length: number } | null = null;
    for (const [workspace_id, own] of this.#workspaces) {
      const { length } = own.waiting[priority];
      if (length > (longest?.length ?? 0)) longest = { workspace_id, own, length };
    }
    if (!longest || longest.length <= unless_over) return null;
    const last = longest.own.waiting[priority].pop() ?? null;
    if (last !== null) this.#counts[priority] -= 1;
    if (longest.own.isEmpty()) this.#workspaces.delete(longest.workspace_id);
    return last;
  }

  /** Replaces an earlier item of the same workspace and priority, in its position. */
  replace(earlier: T, item: T): void {
    const { workspace_id, priority } = this.#standingOf(earlier);
    const own = this.#workspaces.get(workspace_id)?.waiting[priority] ?? [];
    const place = own.indexOf(earlier);
    if (place >= 0) own[place] = item;
  }

  /** Removes and returns all items. */
  empty(): T[] {
    const entries = [...this.#workspaces.values()].flatMap((own) =>
      priorities.flatMap((priority) => own.waiting[priority]),
    );
    this.#workspaces.clear();
    for (const priority of priorities) this.#counts[priority] = 0;
    return entries;
  }
}
