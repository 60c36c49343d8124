import { median } from './load.ts';

/** One line of a printed result: what, beside what, and whether the ratio reaches its goal. */
export interface Line {
  readonly id: string;
  readonly what: string;
  readonly value: string;
  readonly ratio: number | null;
  readonly goal: { readonly at_least?: number; readonly at_most?: number } | null;
}

export function printLines(title: string, lines: readonly Line[]): void {
  process.stdout.write(`\n${title}\n`);
  for (const { id, what, value, ratio, goal } of lines) {
    const shown = ratio === null ? '' : `× ${ratio.toFixed(2)}`;
    process.stdout.write(
      `  ${id.padEnd(4)}${what.padEnd(62)}${value.padEnd(38)}${shown.padEnd(9)}${goalText(ratio, goal)}\n`,
    );
  }
}

function goalText(ratio: number | null, goal: Line['goal']): string {
  if (!goal || ratio === null) return '';
  const { at_least, at_most } = goal;
  if (at_least !== undefined) return `goal ≥ ${at_least} ${ratio >= at_least ? 'reached' : 'not reached'}`;
  return `goal ≤ ${at_most} ${at_most !== undefined && ratio <= at_most ? 'reached' : 'not reached'}`;
}

/** The median of the ratios of each round: two figures taken one after the other share the machine's mood. */
export function medianRatio(upper: readonly number[], lower: readonly number[]): number {
  return median(upper.map((value, index) => value / (lower[index] ?? Number.NaN)));
}
