import { describe, expect, it } from 'vitest';
import { compareResults } from './comparison.ts';
import type { Result } from './result-file.ts';

function resultOf(title: string, series: Readonly<Record<string, readonly number[]>>): Result {
  const suite = { suite: 'accept', title, series, steal_percent: [], dropped_rounds: 0, disturbed_rounds: 0 };
  return { started_at: '', commit: '', node: '', platform: '', processors: 2, options: {}, suites: [suite] };
}

describe('a comparison of results', () => {
  it('shows the ratio of medians, and whether the ranges overlap', () => {
    const before = resultOf('Accept, parts of 4 s', { rate: [10, 12, 14], gone: [1], lost: [Number.NaN] });
    const after = resultOf('Accept, parts of 6 s', { rate: [24, 26, 22], new: [1], lost: [2] });
    expect(compareResults(before, after)).toEqual([
      {
        suite: 'accept',
        name: 'rate',
        before: { median: 12, least: 10, most: 14 },
        after: { median: 24, least: 22, most: 26 },
        ratio: 2,
        apart: true,
      },
    ]);
  });
});
