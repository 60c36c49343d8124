/** Counts of durations by bin, as the roll-ups store them: bin b holds 2^(b/3) up to 2^((b+1)/3) milliseconds. */
export type Histogram = Map<number, number>;

export const BINS_PER_DOUBLING = 3;
/** A bit over eleven days; what took longer is in the last bin. */
export const LAST_BIN = 90;

export function addBins(into: Histogram, stored: Readonly<Record<string, number>> | null): void {
  for (const [bin, count] of Object.entries(stored ?? {})) {
    into.set(Number(bin), (into.get(Number(bin)) ?? 0) + count);
  }
}

/** A percentile in seconds, at most a quarter off; null where nothing was counted. */
export function percentileOf(histogram: Histogram, percent: number): number | null {
  const bins = [...histogram].sort(([left], [right]) => left - right);
  const all = bins.reduce((sum, [, count]) => sum + count, 0);
  if (all === 0) return null;
  let left = (all * percent) / 100;
  for (const [bin, count] of bins) {
    if (left <= count) {
      const low = 2 ** (bin / BINS_PER_DOUBLING);
      const high = 2 ** ((bin + 1) / BINS_PER_DOUBLING);
      return Math.round(low + (high - low) * (left / count)) / 1000;
    }
    left -= count;
  }
  return null;
}
