import { describe, expect, it } from 'vitest';
import { median, percentile, ratiosOf, spreadOf } from './statistics.ts';

describe('statistics', () => {
  it('the median of an even number of values is the mean of the middle two', () => {
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([3, 1, 2])).toBe(2);
    expect(median([])).toBeNaN();
  });

  it('a percentile lies between its neighbors', () => {
    expect(percentile([0, 10], 99)).toBeCloseTo(9.9);
    expect(percentile([7], 99)).toBe(7);
  });

  it('ratios are computed per round, and omitted without a counterpart', () => {
    expect(ratiosOf([2, 9], [1, 3])).toEqual([2, 3]);
    expect(ratiosOf([2, 9], [])).toEqual([]);
    expect(spreadOf([3, 1, 2])).toEqual({ median: 2, least: 1, most: 3 });
  });
});
