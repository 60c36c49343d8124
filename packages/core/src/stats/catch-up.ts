import { planNormally, type Tx } from '@postrider/db';
import type { Services } from '../operation/context.ts';
import { allowMinutes, lockProgress, MINUTE_MS, type Progress, type RollUpName, saveProgress } from './store.ts';

export interface RollUp {
  readonly name: RollUpName;
  /** Recomputes whole minutes and replaces earlier results. */
  compute(tx: Tx, from: Date, to: Date): Promise<void>;
}

// An id is created before the commit that stores it. Nearly all commits follow within half a minute, and all within
// five minutes, because every statement and every idle transaction has timed out long before then.
const SECONDS = { early: 30, late: 300 };
const MAX_MINUTES = 240;
const QUICK_MS = 150;
const SLOW_MS = 600;
const BUDGET_MS = 20_000;

/**
 * Brings a roll-up up to date in bounded steps, each a transaction that also records its progress. The latest minutes
 * come first, so that they are fresh even while hours are being caught up. Returns early if another worker is already
 * running the same roll-up.
 */
export async function catchUp(services: Pick<Services, 'sql'>, rollUp: RollUp, budget_ms = BUDGET_MS): Promise<void> {
  const given_up = performance.now() + budget_ms;
  for (const phase of [earlyStep, finalStep]) {
    let minutes = 1;
    while (performance.now() < given_up) {
      const started = performance.now();
      const has_more = await services.sql.begin((tx) => step(tx, rollUp, phase, minutes));
      if (!has_more) break;
      const took_ms = performance.now() - started;
      if (took_ms < QUICK_MS) minutes = Math.min(MAX_MINUTES, minutes * 2);
      if (took_ms > SLOW_MS) minutes = Math.max(1, Math.floor(minutes / 2));
    }
  }
}

interface Step {
  readonly from: Date;
  readonly to: Date;
}

async function step(
  tx: Tx,
  { name, compute }: RollUp,
  phase: (progress: Progress, minutes: number) => Step & Pick<Progress, 'early_until' | 'final_until'>,
  minutes: number,
): Promise<boolean> {
  const progress = await lockProgress(tx, name, SECONDS);
  if (progress === null) return false;
  const { from, to, ...after } = phase(progress, minutes);
  if (to <= from) return false;
  await planNormally(tx);
  await allowMinutes(tx);
  await compute(tx, from, to);
  await saveProgress(tx, name, after);
  return true;
}

/** Returns the next minutes that are not yet computed but too recent to be final. */
function earlyStep({ early_until, final_until, early_target, final_target }: Progress, minutes: number) {
  const from = latest(early_until, final_until, final_target);
  const to = earliest(early_target, after(from, minutes));
  return { from, to, early_until: latest(early_until, to), final_until };
}

function finalStep({ early_until, final_until, final_target }: Progress, minutes: number) {
  const to = earliest(final_target, after(final_until, minutes));
  return { from: final_until, to, early_until: latest(early_until, to), final_until: to };
}

function after(at: Date, minutes: number): Date {
  return new Date(at.getTime() + minutes * MINUTE_MS);
}

function earliest(...dates: readonly Date[]): Date {
  return new Date(Math.min(...dates.map((date) => date.getTime())));
}

function latest(...dates: readonly Date[]): Date {
  return new Date(Math.max(...dates.map((date) => date.getTime())));
}
