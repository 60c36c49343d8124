import type { Sql, Tx } from '@postrider/db';
import type { WalkStep } from '../../messages/index.ts';
import type { ActorContext, Services } from '../../operation/context.ts';
import type { Reason } from '../../operation/errors.ts';
import type { JobName } from '../../process/jobs.ts';

/** skipped: changed concurrently. failed: an internal error. */
export const bulkOutcomes = ['done', 'failed', 'skipped'] as const;
export type BulkOutcome = (typeof bulkOutcomes)[number];

export interface Receipt {
  readonly item_id: string;
  readonly outcome: BulkOutcome;
  readonly reason: Reason | null;
  readonly line?: string;
}

export interface MatchCount {
  readonly count: number;
  readonly exact: boolean;
}

export interface PassedOver extends MatchCount {
  readonly reason: Reason;
}

/**
 * How a bulk command runs: a walk over the matches of its filter, and an action that rechecks each item when it acts.
 */
export interface Plan {
  /** Throws if the command cannot run at all now. */
  check(ctx: ActorContext): Promise<void>;
  next(sql: Sql | Tx, position: string | null, count: number): Promise<WalkStep>;
  count(sql: Sql, max: number): Promise<MatchCount>;
  /** Returns the items that match the filter but that the action skips, by reason. */
  passedOver(sql: Sql, max: number): Promise<readonly PassedOver[]>;
  /** Shown in the preview. */
  readonly warnings: readonly string[];
  act(tx: Tx, services: Services, ids: readonly string[]): Promise<readonly Receipt[]>;
  /** The queue to wake after a commit. */
  readonly wakes: JobName | null;
  /** Maximum number of items. */
  readonly most: number;
}
