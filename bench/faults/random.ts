/** Random numbers from a printed seed, so that a run is reproducible. */
export interface Random {
  /** Returns a number in [0, 1). */
  next(): number;
  between(low: number, high: number): number;
  /** Returns a separate generator for a part of the run, so that one part does not shift the numbers of another. */
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

/**
 * Returns a number in [0, 1) that depends only on the text, so that a fault chosen by it does not depend on message
 * order.
 */
export function shareOf(seed: string, text: string): number {
  return createRandom(`${seed}:${text}`).next();
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  return hash | 0;
}
