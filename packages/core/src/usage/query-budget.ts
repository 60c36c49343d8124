import type { Sql } from '@postrider/db';
import type { Actor, Log } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import type { RateWindow } from '../operation/ports.ts';
import { type BudgetLevel, type BudgetSize, returnBudget, takeBudget } from './budget-store.ts';

/** The GraphQL budget of a key: its burst, and the points it regains per second. */
export const QUERY_BUDGET: BudgetSize = { points: 12_000, per_second: 200 };

// Refunds are batched for this long; a late refund is harmless, because the bucket leaks anyway.
const REFUND_MS = 100;

export interface Charge {
  readonly window: RateWindow;
  /** When the bucket will be empty if no further points are taken. */
  readonly reset_at_ms: number;
}

/** Returns the rate-limit headers for a level. */
export function chargeOf({ level, now }: Pick<BudgetLevel, 'level' | 'now'>): Charge {
  const { points, per_second } = QUERY_BUDGET;
  const reset_at_ms = now.getTime() + Math.ceil((level / per_second) * 1000);
  return {
    reset_at_ms,
    window: {
      limit: points,
      remaining: Math.max(0, Math.floor(points - level)),
      reset_unix: Math.ceil(reset_at_ms / 1000),
      retry_after_seconds: 1,
    },
  };
}

/** Returns the 429 error for a request that costs more than is left, with the time after which it will fit. */
export function budgetRefusal({ level, now }: BudgetLevel, points: number): Charge & { readonly error: AppError } {
  const seconds = Math.max(1, Math.ceil((level + points - QUERY_BUDGET.points) / QUERY_BUDGET.per_second));
  const charged = chargeOf({ level, now });
  return {
    ...charged,
    window: { ...charged.window, retry_after_seconds: seconds },
    error: new AppError(
      'graphql_cost',
      `This request costs ${points} points, and ${charged.window.remaining} of ${QUERY_BUDGET.points} are left. Retry in ${seconds} s.`,
      { retry_after_seconds: seconds },
    ),
  };
}

/** Returns the id under which a caller's budget and streams are counted. */
export function spenderOf(actor: Actor): string {
  if (actor.kind === 'key') return actor.key_id;
  if (actor.kind === 'user') return actor.session_id;
  throw new Error('the service itself has no budget');
}

/** Takes the part of a request's cost that was not already taken when its key was checked. */
export async function chargeQuery(
  sql: Sql,
  key_id: string,
  points: number,
): Promise<Charge | (Charge & { readonly error: AppError })> {
  const level = await takeBudget(sql, QUERY_BUDGET, key_id, points);
  return level.taken ? chargeOf(level) : budgetRefusal(level, points);
}

export interface QueryRefunds {
  /** Refunds points; several requests share one statement. */
  give(key_id: string, points: number): void;
}

export function createQueryRefunds(sql: Sql, log: Pick<Log, 'error'>): QueryRefunds {
  let owed = new Map<string, number>();
  const settle = () => {
    const due = owed;
    owed = new Map();
    // If the refund is lost, the points leak within a minute.
    returnBudget(sql, due).catch((error: unknown) => log.error({ err: error }, 'failed to refund GraphQL points'));
  };
  return {
    give(key_id, points) {
      if (points <= 0) return;
      if (owed.size === 0) setTimeout(settle, REFUND_MS).unref();
      owed.set(key_id, (owed.get(key_id) ?? 0) + points);
    },
  };
}
