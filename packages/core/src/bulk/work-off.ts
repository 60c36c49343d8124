import { sqlState, type Tx } from '@postrider/db';
import { type AuditFact, recordAudit } from '../audit/index.ts';
import { createContext } from '../create-context.ts';
import type { Actor, Services } from '../operation/context.ts';
import type { JobData } from '../process/jobs.ts';
import type { BulkOutcome, Plan, Receipt } from './plans/plan.ts';
import { planOf } from './plans/plan-of.ts';
import { presentActor } from './present-actor.ts';
import { insertItems, type LockedBulk, lockBulk, markCanceled, passTurn, recordProgress, takeSeat } from './store.ts';

// After this time, a job yields its worker to other jobs.
const TURN_MS = 1000;
// At most two operations of a workspace run at a time across all workers; others retry after this delay.
const SEAT_WAIT_MS = 250;
// A slice is half a second of its rate, and holds its locks for well under a second.
const SLICE_SECONDS = 0.5;
const MAX_SLICE_SIZE = 250;

export interface Slice {
  /** Whether the operation has ended or another job has taken it over. */
  readonly over: boolean;
  /** Time until the rate allows more, or a slot may be free. */
  readonly wait_ms: number;
  readonly receipts: readonly Receipt[];
  readonly plan: Plan | null;
}

/**
 * Runs one job: slice after slice while the rate allows more, then hands over to the next job, so that waiting never
 * blocks a worker.
 */
export async function workOff(services: Services, job: JobData<'bulk.run'>): Promise<void> {
  const began = performance.now();
  for (;;) {
    const slice = await workSlice(services, job, performance.now() - began >= TURN_MS ? true : 'where_it_waits');
    if (!slice.over) continue;
    // Workers poll only every few seconds, so a timer triggers a poll at the due time.
    if (slice.wait_ms > 0) setTimeout(() => services.jobs.wakeLocal('bulk.run'), slice.wait_ms).unref();
    return;
  }
}

/**
 * Runs one slice: items, actions, receipts and progress are one commit, so a worker that dies has done all or nothing.
 * Locks the row of the operation, so that two workers serialize and a cancel falls between two slices.
 */
export async function workSlice(
  services: Services,
  { bulk_id, turn }: JobData<'bulk.run'>,
  pass_on: boolean | 'where_it_waits',
): Promise<Slice> {
  const slice = await services.sql.begin(async (tx): Promise<Slice> => {
    const bulk = await lockBulk(tx, bulk_id);
    const is_current = bulk && bulk.turn === turn && (bulk.status === 'queued' || bulk.status === 'running');
    if (!is_current) return { over: true, wait_ms: 0, receipts: [], plan: null };
    const actor = await presentActor(tx, bulk);
    if (!actor) {
      await cancelFor(services, tx, bulk);
      return { over: true, wait_ms: 0, receipts: [], plan: null };
    }
    const waits = (wait_ms: number) => ({ ended: false, wait_ms, receipts: [], plan: null });
    const seated = bulk.wait_ms > 0 || (await takeSeat(tx, bulk.workspace_id));
    const worked = !seated
      ? waits(SEAT_WAIT_MS)
      : bulk.wait_ms > 0
        ? waits(bulk.wait_ms)
        : await work(services, tx, bulk, actor);
    const passes_on = !worked.ended && (pass_on === 'where_it_waits' ? worked.wait_ms > 0 : pass_on);
    if (passes_on) {
      const { start_after, turn: next } = await passTurn(tx, bulk_id, seated ? 0 : SEAT_WAIT_MS);
      await services.jobs.send(tx, 'bulk.run', [{ data: { bulk_id, turn: next }, start_after }]);
    }
    if (worked.ended) await tellEnd(services, tx, bulk, worked.receipts);
    return {
      over: worked.ended || passes_on,
      wait_ms: worked.ended ? 0 : worked.wait_ms,
      receipts: worked.receipts,
      plan: worked.plan,
    };
  });
  if (slice.plan?.wakes && slice.receipts.length > 0) services.jobs.wakeAll(slice.plan.wakes);
  return slice;
}

async function work(
  services: Services,
  tx: Tx,
  bulk: LockedBulk,
  actor: Actor,
): Promise<{ ended: boolean; wait_ms: number; receipts: readonly Receipt[]; plan: Plan }> {
  const plan = planOf(services, { ...bulk, filter: JSON.parse(bulk.filter), actor });
  const before = bulk.done + bulk.failed + bulk.skipped;
  const room = plan.most - before;
  const size = Math.min(MAX_SLICE_SIZE, Math.max(1, Math.floor(bulk.rate_per_second * SLICE_SECONDS)), room);
  const step = await plan.next(tx, bulk.position, size);
  const receipts = step.ids.length > 0 ? await actOn(services, tx, plan, step.ids) : [];
  await insertItems(tx, bulk.id, before, receipts);
  const truncated = step.position !== null && receipts.length >= room;
  const is_done = step.position === null || truncated;
  const outcomes = countOutcomes(receipts);
  const wait_ms = await recordProgress(tx, {
    id: bulk.id,
    position: step.position,
    outcomes,
    ended: is_done,
    truncated,
  });
  return { ended: is_done, wait_ms, receipts, plan };
}

/** Acts on all items in one savepoint, or one by one if that fails: a failing item must not stop the others. */
async function actOn(services: Services, tx: Tx, plan: Plan, ids: readonly string[]): Promise<readonly Receipt[]> {
  try {
    return await tx.savepoint((part) => plan.act(part, services, ids));
  } catch (error) {
    if (passes(error)) throw error;
    const [item_id] = ids;
    if (ids.length > 1 || item_id === undefined) {
      const each: Receipt[] = [];
      for (const id of ids) each.push(...(await actOn(services, tx, plan, [id])));
      return each;
    }
    services.log.error({ err: error, item_id }, 'a bulk operation item failed');
    return [{ item_id, outcome: 'failed', reason: 'unexpected' }];
  }
}

// Deadlocks, timeouts, too many connections, server shutdown, lost connections: the slice is retried.
const PASSING = new Set(['08', '40', '53', '55', '57']);

function passes(error: unknown): boolean {
  return PASSING.has(sqlState(error)?.slice(0, 2) ?? '');
}

function countOutcomes(receipts: readonly Receipt[]): Record<BulkOutcome, number> {
  const counts = { done: 0, failed: 0, skipped: 0 };
  for (const { outcome } of receipts) counts[outcome] += 1;
  return counts;
}

async function tellEnd(services: Services, tx: Tx, bulk: LockedBulk, receipts: readonly Receipt[]): Promise<void> {
  const last = countOutcomes(receipts);
  const diff = { done: bulk.done + last.done, failed: bulk.failed + last.failed, skipped: bulk.skipped + last.skipped };
  const { workspace_id, id: target_id } = bulk;
  await record(services, tx, workspace_id, { action: 'bulk.ended', target_id, diff, workspace_id });
}

/** Cancels an operation whose starter has lost the permission. */
async function cancelFor(services: Services, tx: Tx, { id: target_id }: LockedBulk): Promise<void> {
  const { done, failed, skipped, workspace_id } = await markCanceled(tx, target_id);
  const reason = 'The user or key that started it no longer has permission.';
  const diff = { done, failed, skipped };
  await record(services, tx, workspace_id, { action: 'bulk.canceled', target_id, diff, reason, workspace_id });
}

async function record(services: Services, tx: Tx, workspace_id: string, fact: AuditFact): Promise<void> {
  const actor = { kind: 'system', workspace_id } as const;
  await recordAudit(tx, { ...createContext(services, actor), actor }, [fact]);
}
