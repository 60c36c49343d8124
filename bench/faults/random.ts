/** Random numbers from a printed seed, so that a run can be repeated. */
export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number;
  between(low: number, high: number): number;
  /** A generator of its own for a part of the run, so that one part does not shift the numbers of another. */
  fork(name: string): Random;
}

export function createRandom(seed: string): Random {
  let state = hashOf(seed);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    fork: (name) => createRandom(`${seed}/${name}`),
  };
}

/** A number from 0 up to 1 that depends on the text alone: a fault chosen by it does not depend on the order of mails. */
export function shareOf(seed: string, text: string): number {
  return createRandom(`${seed}:${text}`).next();
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  return hash | 0;
}
