/** A member knows its seat, and nobody else changes it. */
export interface Seated {
  seat: number;
}

export interface Roster<T extends Seated> extends Iterable<T> {
  readonly size: number;
  add(member: T): void;
  /** Whoever is not in it is left alone. */
  remove(member: T): void;
}

/**
 * A set, in no order, of those who come and go all the time. A Set or a Map is written anew every few hundred of them,
 * and a table that is left behind, once the collector counts it as old, keeps alive all that it named and the table
 * after it, until the whole heap is collected: so every mail would grow old, and be copied twice on the way.
 */
export function createRoster<T extends Seated>(): Roster<T> {
  const members: T[] = [];
  return {
    get size() {
      return members.length;
    },
    add(member) {
      member.seat = members.push(member) - 1;
    },
    remove(member) {
      if (members[member.seat] !== member) return;
      const last = members.pop();
      if (!last || last === member) return;
      members[member.seat] = last;
      last.seat = member.seat;
    },
    [Symbol.iterator]: () => members.values(),
  };
}
