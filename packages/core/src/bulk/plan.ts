import type { Sql, Tx } from '@postrider/db';
import type { ActorContext, Services } from '../context.ts';
import type { Reason } from '../errors.ts';
import type { JobName } from '../jobs.ts';
import type { WalkStep } from '../messages/index.ts';
import { replayPlan } from './delivery-plan.ts';
import type { Errand } from './errand.ts';
import { redrivePlan } from './job-plan.ts';
import { messagePlan } from './message-plan.ts';

/** What became of one: done, left as it was because somebody else came first, or failed by a fault of ours. */
export const bulkOutcomes = ['done', 'failed', 'skipped'] as const;
export type BulkOutcome = (typeof bulkOutcomes)[number];

export interface Receipt {
  readonly item_id: string;
  readonly outcome: BulkOutcome;
  readonly reason: Reason | null;
  readonly line?: string;
}

export interface Counted {
  readonly count: number;
  readonly exact: boolean;
}

export interface PassedOver extends Counted {
  readonly reason: Reason;
}

/** How an errand is done: a walk of what its filter finds, and an act that decides by what stands there when it acts. */
export interface Plan {
  /** Refuses what cannot be done at all just now. */
  check(ctx: ActorContext): Promise<void>;
  next(sql: Sql | Tx, position: string | null, count: number): Promise<WalkStep>;
  count(sql: Sql, most: number): Promise<Counted>;
  /** What the filter finds and the action passes over, each with its reason. */
  passedOver(sql: Sql, most: number): Promise<readonly PassedOver[]>;
  /** What to think of before, where there is something. */
  readonly warnings: readonly string[];
  act(tx: Tx, services: Services, ids: readonly string[]): Promise<readonly Receipt[]>;
  /** Whom to wake after a commit. */
  readonly wakes: JobName | null;
  /** How many items end it, where it has a bound. */
  readonly most: number;
}

/** Parses the filter of an errand; throws what is wrong with it. */
export function planOf(errand: Errand): Plan {
  const { action } = errand;
  switch (action) {
    case 'replay':
      return replayPlan(errand);
    case 'redrive':
      return redrivePlan(errand);
    default:
      return messagePlan({ ...errand, action });
  }
}
