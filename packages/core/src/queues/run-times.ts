import { percentileAt } from '../fields/percentile.ts';

// A histogram with few slots, stored as an array that the database can sum. Slot 0 is for less than a millisecond, and
// the upper bound of each later slot is √2 times that of the previous slot. The last slot is open-ended: more than two
// hours.
export const SLOTS = 48;

export type Histogram = number[];

export function emptyHistogram(): Histogram {
  return new Array<number>(SLOTS).fill(0);
}

export function addToHistogram(bins: Histogram, duration_ms: number): void {
  const slot = duration_ms < 1 ? 0 : Math.min(SLOTS - 1, 1 + Math.floor(2 * Math.log2(duration_ms)));
  bins[slot] = (bins[slot] ?? 0) + 1;
}

export function sumOf(histograms: readonly (readonly number[])[]): Histogram {
  const sum = emptyHistogram();
  for (const bins of histograms) {
    for (const [slot, count] of bins.entries()) sum[slot] = (sum[slot] ?? 0) + count;
  }
  return sum;
}

/** Returns a percentile in seconds, interpolated within its slot; null if nothing was counted. */
export function percentileOf(bins: readonly number[], percent: number): number | null {
  const percentile = percentileAt([...bins.entries()], percent);
  if (!percentile) return null;
  const { slot, share } = percentile;
  if (slot === 0) return 0.001;
  const begin = 2 ** ((slot - 1) / 2) / 1000;
  return slot === SLOTS - 1 ? begin : begin * Math.SQRT2 ** share;
}
