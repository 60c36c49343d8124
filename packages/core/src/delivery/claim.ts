import { randomUUID } from 'node:crypto';
import type { Tx } from '@postrider/db';
import type { SendOutcome } from '@postrider/mail';
import { newId } from '../fields/ids.ts';
import type { Services } from '../operation/context.ts';
import { type DeliveryState, keyOf, openStates, type RecipientKey } from '../states/index.ts';
import { erasedAddresses, hashedSuppressions } from '../suppressions/index.ts';
import type { ClaimedDelivery } from './attempt.ts';
import { insertAttempts, outcomeFields } from './attempts-store.ts';
import { openContents } from './content.ts';
import { addDeliveryJobs, type DeliveryJob } from './jobs-store.ts';
import { nothingSent, OUTCOME_UNKNOWN } from './outcome.ts';
import {
  claimAndLoad,
  type LoadedRow,
  loadDeliveries,
  loadUnclaimed,
  lockMessages,
  type Move,
  type MovedRecipient,
  rememberJobs,
  transition,
  type UnclaimedRecipient,
} from './store.ts';

/**
 * Claims the recipients that are due and free, in a first transaction. A second transaction handles the jobs of the
 * others; if it fails while messages are already claimed, onLost is called, because the transaction may have been
 * committed.
 */
export async function claimDeliveries(
  services: Services,
  fetched: readonly DeliveryJob[],
  onLost?: () => void,
): Promise<ClaimedDelivery[]> {
  const leases = new Map(fetched.map((job) => [job.data.recipient_id, { job, lease: randomUUID() }]));
  const jobs = [...leases.values()].map(({ job }) => job);
  const moves = jobs.map(
    (job): Move => ({ ...job.data, new_lease: leases.get(job.data.recipient_id)?.lease ?? randomUUID() }),
  );
  // A duplicate job for the same recipient has nothing left to do.
  const doubles = fetched.filter((job) => leases.get(job.data.recipient_id)?.job !== job);
  if (doubles.length > 0) {
    await services.sql.begin((tx) => services.jobs.complete(tx, 'delivery.attempt', doubles));
  }
  const claimed = await claimAndLoad(services.sql, moves);
  const lost = without(jobs, claimed);
  const others = lost.length > 0 ? await claimOthers(services, lost, moves, claimed.length > 0, onLost) : [];
  const rows = await withoutErased(services, [...claimed, ...others], (id) => leases.get(id)?.lease, jobs);
  const contents = await openContents(services, rows);
  return rows.flatMap((row) => {
    const lease = leases.get(row.recipient_id);
    const content = contents.get(row.message_id);
    if (!lease || !content) return [];
    return [{ ...lease, delivery: row, content, attempt_count: row.attempt_count }];
  });
}

/**
 * Handles jobs whose recipients could not be claimed directly. An error here does not affect messages that are already
 * claimed.
 */
async function claimOthers(
  services: Services,
  lost: readonly DeliveryJob[],
  moves: readonly Move[],
  some_claimed: boolean,
  onLost?: () => void,
): Promise<LoadedRow[]> {
  try {
    // A separate transaction: it locks messages, which come before recipients in lock order.
    return await services.sql.begin(async (tx) => {
      const others = await settleUnclaimed(services, tx, lost, moves);
      return others.length > 0 ? await loadDeliveries(tx, others) : [];
    });
  } catch (error) {
    if (!some_claimed) throw error;
    services.log.error({ err: error, count: lost.length }, 'failed to claim deliveries');
    onLost?.();
    return [];
  }
}

/**
 * Settles a job whose recipient was not claimed. A scheduled message that is due is released and claimed. The claim of
 * a lost worker is taken over. A recipient that is leased or due later gets a job for that time, unless it already has
 * one. A recipient whose address is suppressed ends. A message that a lost worker may have sent, and that must not be
 * sent twice, ends as unknown. A closed recipient needs no job.
 */
async function settleUnclaimed(
  services: Services,
  tx: Tx,
  lost: readonly DeliveryJob[],
  moves: readonly Move[],
): Promise<MovedRecipient[]> {
  const keys = lost.map((job) => job.data);
  await lockMessages(tx, keys);
  const rows = await loadUnclaimed(tx, keys);
  const now_ms = services.clock.now();
  const released = await releaseScheduled(tx, rows, moves, now_ms);
  const continued = await takeOver(
    tx,
    rows.filter((row) => row.abandoned && !row.interrupted),
    moves,
    now_ms,
  );
  const claimed = [...released, ...continued];
  const interrupted = await endInterrupted(
    tx,
    rows.filter((row) => row.interrupted),
    now_ms,
  );
  const suppressed = await endSuppressed(tx, rows, now_ms);
  const moved = new Set([...claimed, ...suppressed, ...interrupted].map((row) => row.recipient_id));
  await requeueWaiting(
    services,
    tx,
    rows.filter((row) => !moved.has(row.recipient_id)),
    lost,
  );
  await services.jobs.complete(tx, 'delivery.attempt', without(lost, claimed));
  return claimed;
}

/** Releases scheduled messages that are due, and claims them. */
async function releaseScheduled(
  tx: Tx,
  rows: readonly UnclaimedRecipient[],
  moves: readonly Move[],
  now_ms: number,
): Promise<MovedRecipient[]> {
  const scheduled = rows.filter((row) => row.state === 'scheduled' && row.due);
  const released = await transition(
    tx,
    'release',
    scheduled.map((row) => ({ ...keyOf(row), event_id: newId('event', now_ms) })),
  );
  const ids = new Set(released.map((row) => row.recipient_id));
  return transition(
    tx,
    'claim',
    moves.filter((move) => ids.has(move.recipient_id)),
  );
}

/**
 * Ends claimed recipients whose addresses were erased while suppressed. Only this process can tell: the database has
 * their hashes but not the key.
 */
async function withoutErased(
  services: Services,
  rows: readonly LoadedRow[],
  leaseOf: (recipient_id: string) => string | undefined,
  jobs: readonly DeliveryJob[],
): Promise<readonly LoadedRow[]> {
  if (!rows.some((row) => row.hashes_in_use)) return rows;
  const hashes = await erasedAddresses(
    services,
    rows.map((row) => row.email),
  );
  const pairs = rows.map(({ workspace_id }, index) => ({ workspace_id, hashed: hashes[index] ?? '' }));
  const suppressions = await hashedSuppressions(services.sql, pairs);
  const ids = pairs.map(({ workspace_id, hashed }) => suppressions.get(`${workspace_id} ${hashed}`));
  const erased = rows.filter((_, index) => ids[index] !== undefined);
  if (erased.length === 0) return rows;
  const suppression_ids = new Map(rows.map((row, index) => [row.recipient_id, ids[index]]));
  const now_ms = services.clock.now();
  await services.sql.begin(async (tx) => {
    await lockMessages(tx, erased);
    await transition(
      tx,
      'hand_back',
      erased.map((row) => ({ ...keyOf(row), lease: leaseOf(row.recipient_id) ?? randomUUID() })),
    );
    await transition(
      tx,
      'suppress',
      erased.map((row) => {
        const event_facts = { suppression_id: suppression_ids.get(row.recipient_id) };
        return { ...keyOf(row), event_id: newId('event', now_ms), event_facts };
      }),
    );
    const erased_ids = new Set(erased.map((row) => row.recipient_id));
    const erased_jobs = jobs.filter((job) => erased_ids.has(job.data.recipient_id));
    await services.jobs.complete(tx, 'delivery.attempt', erased_jobs);
  });
  return rows.filter((row) => !erased.includes(row));
}

/** Ends recipients whose address was suppressed while they waited, or before the messages released here were due. */
async function endSuppressed(tx: Tx, rows: readonly UnclaimedRecipient[], now_ms: number): Promise<MovedRecipient[]> {
  const suppressed = await transition(
    tx,
    'suppress',
    rows.flatMap((row) =>
      row.due && row.suppression_id !== null && !row.interrupted
        ? [{ ...keyOf(row), event_id: newId('event', now_ms), event_facts: { suppression_id: row.suppression_id } }]
        : [],
    ),
  );
  const abandoned = new Set(rows.filter((row) => row.abandoned).map((row) => row.recipient_id));
  await recordLost(
    tx,
    suppressed.filter((row) => abandoned.has(row.recipient_id)),
    now_ms,
  );
  return suppressed;
}

/** Adds a job for each open recipient, for when it is due and its lease has expired. */
async function requeueWaiting(
  services: Services,
  tx: Tx,
  rows: readonly UnclaimedRecipient[],
  lost: readonly DeliveryJob[],
): Promise<void> {
  const jobOf = new Map(lost.map((job) => [job.data.recipient_id, job.id]));
  const waiting = rows.flatMap((row) => {
    if (!isOpen(row.state)) return [];
    // A job other than the one on the row was superseded: it would only duplicate the live one.
    if (row.job_id !== jobOf.get(row.recipient_id)) return [];
    return [{ ...keyOf(row), job_id: randomUUID(), start_after: laterOf(row.due_at, row.lease_until) }];
  });
  await rememberJobs(tx, waiting);
  await addDeliveryJobs(tx, services.jobs, waiting);
}

/** Takes over the claims of a lost worker, and records its attempts. */
async function takeOver(
  tx: Tx,
  rows: readonly UnclaimedRecipient[],
  moves: readonly Move[],
  now_ms: number,
): Promise<MovedRecipient[]> {
  const ids = new Set(rows.map((row) => row.recipient_id));
  const moved = await transition(
    tx,
    'take_over',
    moves.filter((move) => ids.has(move.recipient_id)),
  );
  await recordLost(
    tx,
    moved.map((row) => ({ ...row, attempt_count: row.attempt_count - 1 })),
    now_ms,
  );
  return moved;
}

/** Records the attempts of a lost worker as unknown: the messages may have arrived. */
async function recordLost(tx: Tx, rows: readonly MovedRecipient[], now_ms: number): Promise<void> {
  const outcome: SendOutcome = { ...nothingSent('the sending worker was lost'), kind: 'unknown' };
  await insertAttempts(
    tx,
    rows.map((row) => ({
      ...keyOf(row),
      ...outcomeFields(outcome),
      stage: 'worker_lost',
      id: newId('attempt', now_ms),
      number: row.attempt_count,
      category: null,
      duration_ms: 0,
    })),
  );
}

const INTERRUPTED = 'the sending worker ended before recording a reply';

/** Ends recipients that a lost worker may have sent to and that must not be sent to twice. */
async function endInterrupted(tx: Tx, rows: readonly UnclaimedRecipient[], now_ms: number): Promise<MovedRecipient[]> {
  const moved = await transition(
    tx,
    'lose',
    rows.map((row) => ({
      ...keyOf(row),
      event_id: newId('event', now_ms),
      event_facts: { attempt: row.attempt_count, response: INTERRUPTED },
      last_response: INTERRUPTED,
      reason: OUTCOME_UNKNOWN,
    })),
  );
  const outcome: SendOutcome = { ...nothingSent(INTERRUPTED), kind: 'unknown', stage: 'data' };
  await insertAttempts(
    tx,
    moved.map((row) => ({
      ...keyOf(row),
      ...outcomeFields(outcome),
      id: newId('attempt', now_ms),
      number: row.attempt_count,
      category: null,
      duration_ms: 0,
    })),
  );
  return moved;
}

function without(jobs: readonly DeliveryJob[], moved: readonly RecipientKey[]): DeliveryJob[] {
  const ids = new Set(moved.map((row) => row.recipient_id));
  return jobs.filter((job) => !ids.has(job.data.recipient_id));
}

function isOpen(state: DeliveryState): boolean {
  return openStates.some((open) => open === state);
}

function laterOf(left: Date, right: Date | null): Date {
  return right && right > left ? right : left;
}
