/** The index of a member in its set; only the set changes it. */
export interface Indexed {
  index: number;
}

export interface InFlightSet<T extends Indexed> extends Iterable<T> {
  readonly size: number;
  add(member: T): void;
  /** Ignores an item that is not a member. */
  remove(member: T): void;
}

/**
 * Creates an unordered set for members with a high turnover. A Set or Map is rehashed every few hundred changes, and an
 * old table in the old generation keeps its members and the next table alive until a full GC. Every message would then
 * be promoted, and copied twice on the way.
 */
export function createInFlightSet<T extends Indexed>(): InFlightSet<T> {
  const members: T[] = [];
  return {
    get size() {
      return members.length;
    },
    add(member) {
      member.index = members.push(member) - 1;
    },
    remove(member) {
      if (members[member.index] !== member) return;
      const last = members.pop();
      if (!last || last === member) return;
      members[member.index] = last;
      last.index = member.index;
    },
    [Symbol.iterator]: () => members.values(),
  };
}
