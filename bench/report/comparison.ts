import { type Spread, spreadOf } from '../measure/statistics.ts';
import type { Result } from './result-file.ts';

export interface ComparedSeries {
  readonly suite: string;
  readonly name: string;
  readonly before: Spread;
  readonly after: Spread;
  /** The ratio of the medians, after ÷ before. */
  readonly ratio: number;
  /** Whether the two ranges do not overlap. */
  readonly apart: boolean;
}

/** Compares every series that both results have. */
export function compareResults(before: Result, after: Result): ComparedSeries[] {
  const known = new Map(before.suites.map(({ suite, title, series }) => [keyOf(suite, title), series]));
  return after.suites.flatMap(({ suite, title, series }) =>
    Object.entries(series).flatMap(([name, values]) => {
      const old = known.get(keyOf(suite, title))?.[name]?.filter(Number.isFinite) ?? [];
      const current = values.filter(Number.isFinite);
      if (old.length === 0 || current.length === 0) return [];
      const [from, to] = [spreadOf(old), spreadOf(current)];
      const is_apart = from.most < to.least || to.most < from.least;
      return [{ suite, name, before: from, after: to, ratio: to.median / from.median, apart: is_apart }];
    }),
  );
}

/** Returns the key of a table. A suite may have several tables, and the numbers in their titles depend on the run. */
function keyOf(suite: string, title: string): string {
  return `${suite} ${title.replace(/[\d.,]+/g, '#')}`;
}

export function printComparison(before_path: string, rows: readonly ComparedSeries[]): void {
  process.stdout.write(`\nCompared with ${before_path}: median (range), × is now ÷ before\n`);
  for (const { suite, name, before, after, ratio, apart: is_apart } of rows) {
    const text = `${spreadText(before).padEnd(30)}${spreadText(after).padEnd(30)}× ${ratio.toFixed(2)}`;
    process.stdout.write(`  ${`${suite}: ${name}`.padEnd(96)}${text}${is_apart ? '  ranges apart' : ''}\n`);
  }
  if (rows.length === 0) process.stdout.write('  The two results have no series in common.\n');
}

function spreadText({ median, least: min, most: max }: Spread): string {
  return `${figure(median)} (${figure(min)}–${figure(max)})`;
}

function figure(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
