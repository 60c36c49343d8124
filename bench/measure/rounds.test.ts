import { describe, expect, it } from 'vitest';
import { measureRounds } from './rounds.ts';
import type { ProcessorTicks } from './steal.ts';

/** Returns a CPU clock on which each round takes a hundred ticks, of which the given number is stolen. */
function stealing(percents: readonly number[]): () => ProcessorTicks {
  let reads = 0;
  let stolen = 0;
  return () => {
    if (reads % 2 === 1) stolen += percents[(reads - 1) / 2] ?? 0;
    reads += 1;
    return { all: Math.floor(reads / 2) * 100, stolen, idle: 0 };
  };
}

describe('measurement rounds', () => {
  it('are discarded and repeated if there is too much CPU steal', async () => {
    const rounds = await measureRounds({ rounds: 2, ticks: stealing([1, 30, 5]) }, async (keep, round) => {
      keep('turn', round);
    });
    expect(rounds.values('turn')).toEqual([0, 2]);
    expect(rounds.steal_percent).toEqual([1, 5]);
    expect(rounds).toMatchObject({ dropped: 1, disturbed: 0 });
  });

  it('are included despite CPU steal once all repeats are used, if they are the least disturbed', async () => {
    const rounds = await measureRounds({ rounds: 2, ticks: stealing([40, 30, 20, 1]) }, async (keep, round) => {
      keep('turn', round);
    });
    expect(rounds.values('turn')).toEqual([3, 2]);
    expect(rounds).toMatchObject({ dropped: 2, disturbed: 1 });
  });
});
