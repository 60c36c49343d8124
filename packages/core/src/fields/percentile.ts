/**
 * Returns the slot of a histogram that contains a percentile, and the fraction of the slot below that percentile;
 * returns null for an empty histogram.
 */
export function percentileAt(
  counts: readonly (readonly [slot: number, count: number])[],
  percent: number,
): { readonly slot: number; readonly share: number } | null {
  let remaining = (counts.reduce((sum, [, count]) => sum + count, 0) * percent) / 100;
  for (const [slot, count] of counts) {
    if (count > 0 && remaining <= count) return { slot, share: remaining / count };
    remaining -= count;
  }
  return null;
}
