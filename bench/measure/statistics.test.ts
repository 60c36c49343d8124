import { describe, expect, it } from 'vitest';
import { median, percentile, ratiosOf, spreadOf } from './statistics.ts';

describe('result statistics', () => {
  it('use the mean of the two middle values as the median of an even number of values', () => {
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([3, 1, 2])).toBe(2);
    expect(median([])).toBeNaN();
  });

  it('interpolate a percentile between neighboring values', () => {
    expect(percentile([0, 10], 99)).toBeCloseTo(9.9);
    expect(percentile([7], 99)).toBe(7);
  });

  it('compute ratios per round, and omit those without a counterpart', () => {
    expect(ratiosOf([2, 9], [1, 3])).toEqual([2, 3]);
    expect(ratiosOf([2, 9], [])).toEqual([]);
    expect(spreadOf([3, 1, 2])).toEqual({ median: 2, least: 1, most: 3 });
  });
});
