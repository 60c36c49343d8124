export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/**
 * Interpolates between neighbors, so that the 50th percentile of an even number of values is the mean of the middle
 * two.
 */
export function percentile(sorted: readonly number[], percent: number): number {
  const place = ((sorted.length - 1) * percent) / 100;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below === above ? below : below + (above - below) * (place - Math.floor(place));
}

export function median(values: readonly number[]): number {
  return percentile(ascending(values), 50);
}

export function ascending(values: readonly number[]): number[] {
  return [...values].sort((left, right) => left - right);
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), least: Math.min(...values), most: Math.max(...values) };
}

/** Returns the ratio of each round: two figures measured back to back share the state of the machine. */
export function ratiosOf(upper: readonly number[], lower: readonly number[]): number[] {
  if (lower.length === 0) return [];
  return upper.map((value, index) => value / (lower[index] ?? Number.NaN));
}
