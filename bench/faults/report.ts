import type { Ledgers } from './ledgers.ts';
import type { Figures } from './reconcile.ts';

/** Prints what was found; true where every check holds. */
export function printFaultReport({ checks, notes }: Figures, ledgers: Ledgers): boolean {
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  const accepted = ledgers.sent.filter(({ ids }) => ids.size > 0).length;
  say('');
  say(
    `${ledgers.sent.length} requests, ${accepted} accepted, ${ledgers.seen.length} transactions at mail servers, ${ledgers.posted.length} posts`,
  );
  say('Lives of processes (from start to ready, from ready to end):');
  for (const { slot, started_at, ready_at, ended_at, end } of ledgers.lives) {
    const seconds = (from: number | null, to: number | null) =>
      from === null || to === null ? 'never' : `${((to - from) / 1000).toFixed(1)} s`;
    say(
      `  ${slot.padEnd(9)} ${seconds(started_at, ready_at).padStart(7)} ${seconds(ready_at, ended_at).padStart(8)}  ${end ?? 'alive'}`,
    );
  }
  say('');
  for (const { name, found, at_most, examples } of checks) {
    const holds = found <= at_most;
    say(
      `  ${holds ? 'ok ' : 'BAD'} ${String(found).padStart(6)}  ${name}${at_most > 0 ? ` (at most ${at_most})` : ''}`,
    );
    if (!holds) for (const example of examples) say(`             ${example}`);
  }
  for (const note of notes) say(`  ${note}`);
  return checks.every(({ found, at_most }) => found <= at_most);
}
