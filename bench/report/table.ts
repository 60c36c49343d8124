import type { Rounds } from '../measure/rounds.ts';
import { spreadOf } from '../measure/statistics.ts';

/**
 * One line of a printed result: the figure measured, its baseline, and whether the median of the ratios meets its goal.
 */
export interface Line {
  readonly id: string;
  readonly what: string;
  readonly value: string;
  /** One per round; empty if there is nothing to compare with. */
  readonly ratios: readonly number[];
  readonly goal: Goal | null;
}

export interface Goal {
  readonly at_least?: number;
  readonly at_most?: number;
}

export interface Report {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly rounds: Rounds | null;
  /** Figures measured once rather than per round, for the result file. */
  readonly figures?: Readonly<Record<string, number>>;
}

export function line(id: string, label: string, value: string, ratios: readonly number[] = [], goal?: Goal): Line {
  return { id, what: label, value, ratios, goal: goal ?? null };
}

export function printReport({ title, lines, rounds }: Report): void {
  process.stdout.write(`\n${title}\n`);
  for (const { id, what: label, value, ratios, goal } of lines) {
    const { median, least: min, most: max } = spreadOf(ratios);
    const ratio_text = ratios.length === 0 ? '' : `× ${median.toFixed(2)}`;
    const range = ratios.length < 2 ? '' : `${min.toFixed(2)}–${max.toFixed(2)}`;
    const judgement = goal && ratios.length > 0 ? judge(median, goal) : '';
    process.stdout.write(
      `  ${id.padEnd(4)}${label.padEnd(66)}${value.padEnd(40)}${ratio_text.padEnd(9)}${range.padEnd(12)}${judgement}\n`,
    );
  }
  if (rounds) process.stdout.write(`  ${stealText(rounds)}\n`);
}

function judge(ratio: number, { at_least, at_most }: Goal): string {
  const reached = (at_least === undefined || ratio >= at_least) && (at_most === undefined || ratio <= at_most);
  const bound = at_least === undefined ? `≤ ${at_most}` : `≥ ${at_least}`;
  return `goal ${bound} ${reached ? 'reached' : 'not reached'}`;
}

function stealText({ steal_percent, dropped, disturbed }: Rounds): string {
  const { least: min, most: max } = spreadOf(steal_percent);
  const note = disturbed === 0 ? '' : `; ${disturbed} disturbed rounds count, as there were too few others`;
  return `steal ${min.toFixed(1)}–${max.toFixed(1)} %, ${dropped} disturbed rounds dropped${note}`;
}
