/** One condition that must hold, with the violations found. */
export interface Check {
  readonly name: string;
  readonly count: number;
  readonly at_most: number;
  /** A few violations to investigate. */
  readonly examples: readonly string[];
}

const EXAMPLES = 8;

/** Returns a check that passes with up to `at_most` violations. */
export function check(name: string, violations: readonly string[], at_most = 0): Check {
  return { name, count: violations.length, at_most, examples: violations.slice(0, EXAMPLES) };
}

/** Returns a check that passes if a figure stays within its limit. */
export function atMost(name: string, count: number, at_most: number, examples: readonly string[] = []): Check {
  return { name, count, at_most, examples: examples.slice(0, EXAMPLES) };
}

export function holds({ count, at_most }: Check): boolean {
  return count <= at_most;
}
