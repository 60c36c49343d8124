import { percentileAt } from '../fields/percentile.ts';

/**
 * Counts of durations by bin, as the roll-ups store them: bin b contains 2^(b/3) up to 2^((b+1)/3) milliseconds.
 * Sparse, because messages may take days and most bins of a minute are empty.
 */
export type Histogram = Map<number, number>;

export const BINS_PER_DOUBLING = 3;
/** Begins at 2^30 ms, a bit over twelve days; the last bin contains everything longer. */
export const LAST_BIN = 90;

export function addBins(target: Histogram, stored: Readonly<Record<string, number>> | null): void {
  for (const [bin, count] of Object.entries(stored ?? {})) {
    target.set(Number(bin), (target.get(Number(bin)) ?? 0) + count);
  }
}

/** Returns a percentile in seconds, at most a quarter off; null if nothing was counted. */
export function percentileOf(histogram: Histogram, percent: number): number | null {
  const percentile = percentileAt(
    [...histogram].sort(([left], [right]) => left - right),
    percent,
  );
  if (!percentile) return null;
  const low = 2 ** (percentile.slot / BINS_PER_DOUBLING);
  const high = 2 ** ((percentile.slot + 1) / BINS_PER_DOUBLING);
  return Math.round(low + (high - low) * percentile.share) / 1000;
}
