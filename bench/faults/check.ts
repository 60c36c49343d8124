/** One thing that must hold, with what was found. */
export interface Check {
  readonly name: string;
  readonly found: number;
  readonly at_most: number;
  /** A few of what was found, to look into. */
  readonly examples: readonly string[];
}

const EXAMPLES = 8;

/** So many of these there may be. */
export function check(name: string, found: readonly string[], at_most = 0): Check {
  return { name, found: found.length, at_most, examples: found.slice(0, EXAMPLES) };
}

/** A figure and its limit. */
export function atMost(name: string, found: number, at_most: number, examples: readonly string[] = []): Check {
  return { name, found, at_most, examples: examples.slice(0, EXAMPLES) };
}

export function holds({ found, at_most }: Check): boolean {
  return found <= at_most;
}
