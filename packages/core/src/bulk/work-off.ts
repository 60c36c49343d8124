import { setTimeout as pause } from 'node:timers/promises';
import { sqlState, type Tx } from '@postrider/db';
import { type AuditFact, recordAudit } from '../audit/index.ts';
import type { Services } from '../context.ts';
import type { JobData } from '../jobs.ts';
import { createContext } from '../services.ts';
import { actorOf } from './bulk-entry.ts';
import { type BulkOutcome, type Plan, planOf, type Receipt } from './plan.ts';
import { insertItems, type LockedBulk, lockBulk, passTurn, recordProgress } from './store.ts';

// A job works for so long and then makes room: others who wait for a worker get their turn.
const TURN_MS = 5000;
// A slice is what half a second of its rate allows, and holds its locks for well below a second.
const SLICE_SECONDS = 0.5;
const MOST_IN_A_SLICE = 250;

export interface Slice {
  /** Nothing is left to do under this job: the operation has ended, or belongs to another job now. */
  readonly over: boolean;
  /** Until the rate allows more. */
  readonly wait_ms: number;
  readonly receipts: readonly Receipt[];
  readonly plan: Plan | null;
}

/** The work of one job: slice after slice at the rate that was asked for, and the next job after some seconds. */
export async function workOff(services: Services, job: JobData<'bulk.run'>): Promise<void> {
  const began = performance.now();
  for (;;) {
    const slice = await workSlice(services, job, performance.now() - began >= TURN_MS);
    if (slice.over) return;
    if (slice.wait_ms > 0) await pause(Math.min(slice.wait_ms, SLICE_SECONDS * 1000));
  }
}

/**
 * One slice: the next items, the acts, their receipts and how far it came are one commit, so that a worker that dies
 * has either done all of it or nothing. It holds the operation's row, so that two who work at once take turns, and a
 * cancel comes between two slices.
 */
export async function workSlice(
  services: Services,
  { bulk_id, turn }: JobData<'bulk.run'>,
  pass_on: boolean,
): Promise<Slice> {
  const slice = await services.sql.begin(async (tx): Promise<Slice> => {
    const bulk = await lockBulk(tx, bulk_id);
    const mine = bulk && bulk.turn === turn && (bulk.status === 'queued' || bulk.status === 'running');
    if (!mine) return { over: true, wait_ms: 0, receipts: [], plan: null };
    const worked =
      bulk.wait_ms > 0
        ? { ended: false, wait_ms: bulk.wait_ms, receipts: [], plan: null }
        : await work(services, tx, bulk);
    if (!worked.ended && pass_on) {
      const { start_after, turn: next } = await passTurn(tx, bulk_id);
      await services.jobs.send(tx, 'bulk.run', [{ data: { bulk_id, turn: next }, start_after }]);
    }
    if (worked.ended) await tellEnd(services, tx, bulk, worked.receipts);
    return { over: worked.ended || pass_on, wait_ms: worked.wait_ms, receipts: worked.receipts, plan: worked.plan };
  });
  if (slice.plan?.wakes && slice.receipts.length > 0) services.jobs.wake(slice.plan.wakes);
  return slice;
}

async function work(
  services: Services,
  tx: Tx,
  bulk: LockedBulk,
): Promise<{ ended: boolean; wait_ms: number; receipts: readonly Receipt[]; plan: Plan }> {
  // The filter was parsed when it was previewed.
  const plan = planOf({ ...bulk, filter: JSON.parse(bulk.filter), actor: actorOf(bulk) });
  const before = bulk.done + bulk.failed + bulk.skipped;
  const room = plan.most - before;
  const wanted = Math.min(MOST_IN_A_SLICE, Math.max(1, Math.floor(bulk.rate_per_second * SLICE_SECONDS)), room);
  const step = await plan.next(tx, bulk.position, wanted);
  const receipts = step.ids.length > 0 ? await actOn(services, tx, plan, step.ids) : [];
  await insertItems(tx, bulk.id, before, receipts);
  const truncated = step.position !== null && receipts.length >= room;
  const ended = step.position === null || truncated;
  const outcomes = countOutcomes(receipts);
  const wait_ms = await recordProgress(tx, { id: bulk.id, position: step.position, outcomes, ended, truncated });
  return { ended, wait_ms, receipts, plan };
}

/** All at once, or one by one where that fails: an item that cannot be done must not end what can. */
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
    services.log.error({ err: error, item_id }, 'an item of a bulk operation failed');
    return [{ item_id, outcome: 'failed', reason: 'unexpected' }];
  }
}

// Deadlocks and timeouts, too many connections, a server that stops, a connection that is lost: the slice is tried again.
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
  const { workspace_id, id: target_id } = bulk;
  const fact: AuditFact = {
    action: 'bulk.ended',
    target_id,
    diff: { done: bulk.done + last.done, failed: bulk.failed + last.failed, skipped: bulk.skipped + last.skipped },
    workspace_id,
  };
  const actor = { kind: 'system', workspace_id } as const;
  await recordAudit(tx, { ...createContext(services, actor), actor }, [fact]);
}
