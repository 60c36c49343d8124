import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { holds } from './check.ts';
import type { Ledgers } from './ledgers.ts';
import type { Figures } from './reconcile.ts';

export interface Run {
  readonly plan: string;
  readonly seed: string;
  readonly seconds: number;
  /** Log messages above info level, with their counts. */
  readonly warnings: readonly (readonly [string, number])[];
}

const print = (line: string) => void process.stdout.write(`${line}\n`);
const MAX_WARNINGS = 12;

/** Prints the findings, one line per criterion; returns true if all hold. */
export function printFaultReport({ checks, notes }: Figures, ledgers: Ledgers, run: Run): boolean {
  print('');
  print(summary(ledgers));
  print('Process lifetimes (start to ready, ready to exit, peak memory):');
  for (const { slot, started_at, ready_at, ended_at, end, max_memory_mb } of ledgers.lives) {
    const seconds = (from: number | null, to: number | null) =>
      from === null || to === null ? 'never' : `${((to - from) / 1000).toFixed(1)} s`;
    print(
      `  ${slot.padEnd(9)} ${seconds(started_at, ready_at).padStart(7)} ${seconds(ready_at, ended_at).padStart(8)} ` +
        `${String(max_memory_mb).padStart(4)} MB  ${end ?? 'alive'}`,
    );
  }
  print('');
  for (const one of checks) {
    const { name, count, at_most, examples } = one;
    const limit = at_most > 0 ? ` (at most ${at_most})` : '';
    print(`  ${holds(one) ? 'ok ' : 'BAD'} ${figure(count).padStart(7)}  ${name}${limit}`);
    if (!holds(one)) for (const example of examples) print(`               ${example}`);
  }
  for (const note of notes) print(`  ${note}`);
  for (const [message, count] of run.warnings.slice(0, MAX_WARNINGS)) print(`  logged ${count} times: ${message}`);
  const failed = checks.filter((one) => !holds(one)).length;
  print('');
  print(
    failed === 0
      ? `sound: all ${checks.length} checks passed, plan ${run.plan}, seed ${run.seed}, ${run.seconds} s`
      : `NOT sound: ${failed} of ${checks.length} checks failed, plan ${run.plan}, seed ${run.seed}, ${run.seconds} s`,
  );
  return failed === 0;
}

/** Writes the findings as JSON. */
export function writeFaultReport(path: string, { checks, notes }: Figures, ledgers: Ledgers, run: Run): void {
  const { lives, kills, faults, sent, seen: arrivals, posted } = ledgers;
  mkdirSync(dirname(path), { recursive: true });
  const report = {
    ...run,
    sound: checks.every(holds),
    requests: sent.length,
    transactions: arrivals.length,
    posts: posted.length,
    checks: checks.map((one) => ({ ...one, holds: holds(one) })),
    notes,
    kills,
    faults,
    lives,
  };
  writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`);
  print(`figures: ${path}`);
}

function summary({ sent, seen: arrivals, posted }: Ledgers): string {
  const accepted = sent.filter(({ ids }) => ids.size > 0).length;
  return `${sent.length} requests, ${accepted} accepted, ${arrivals.length} SMTP transactions, ${posted.length} webhook requests`;
}

function figure(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}
