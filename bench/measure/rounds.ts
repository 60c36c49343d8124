import { type ProcessorTicks, readTicks, stealPercent } from './steal.ts';

/** Above this percentage of steal, a round says more about the host's other guests than about the code under test. */
export const MAX_STEAL_PERCENT = 5;
// At most as many repeats as requested rounds, so that a run on a permanently disturbed machine ends.
const ATTEMPTS_PER_ROUND = 2;

/** Records one value of the current round; each series gets one value per round. */
export type Keep = (series: string, value: number) => void;

export interface Rounds {
  readonly series: ReadonlyMap<string, readonly number[]>;
  /** Steal in each round that counts. */
  readonly steal_percent: readonly number[];
  readonly dropped: number;
  /** Rounds above the limit that count because there were no better ones. */
  readonly disturbed: number;
  values(series: string): readonly number[];
}

interface Round {
  readonly figures: ReadonlyMap<string, number>;
  readonly steal: number;
}

interface RoundOptions {
  readonly rounds: number;
  readonly max_steal?: number;
  readonly ticks?: () => ProcessorTicks;
}

/** Runs rounds until enough were undisturbed; drops and repeats disturbed ones, up to a limit. */
export async function measureRounds(
  { rounds, max_steal = MAX_STEAL_PERCENT, ticks = readTicks }: RoundOptions,
  measure: (keep: Keep, round: number) => Promise<void>,
): Promise<Rounds> {
  const clean: Round[] = [];
  const disturbed: Round[] = [];
  for (let index = 0; clean.length < rounds && index < rounds * ATTEMPTS_PER_ROUND; index++) {
    const figures = new Map<string, number>();
    const before = ticks();
    await measure((series, value) => figures.set(series, value), index);
    const steal = stealPercent(before, ticks());
    (steal <= max_steal ? clean : disturbed).push({ figures, steal });
  }
  const spare = disturbed.sort((left, right) => left.steal - right.steal).slice(0, rounds - clean.length);
  const used_rounds = [...clean, ...spare];
  const names = new Set(used_rounds.flatMap(({ figures }) => [...figures.keys()]));
  const series = new Map(
    [...names].map((name) => [name, used_rounds.map(({ figures }) => figures.get(name) ?? Number.NaN)]),
  );
  return {
    series,
    steal_percent: used_rounds.map(({ steal }) => steal),
    dropped: disturbed.length - spare.length,
    disturbed: spare.length,
    values: (name) => series.get(name) ?? [],
  };
}
