import {
  apart,
  equalsByRange,
  equalsUnpruned,
  type Fragment,
  fence,
  fitsRecord,
  isoTimes,
  recordsIn,
  recordTexts,
  type Sql,
  type Tx,
  uuidOfId,
} from '@postrider/db';
import type { JobHold } from '@postrider/queue';
import { isMessageEvent } from '../events/index.ts';
import type { KeyMode } from '../operation/secrets.ts';
import type { RecipientKey } from '../states/index.ts';
import { type DeliveryState, type TransitionName, transitions } from '../states/index.ts';
import { stillSuppressed } from '../suppressions/index.ts';
import type { NewAttempt } from './attempts-store.ts';
import { OUTCOME_UNKNOWN, type UnknownPolicy } from './outcome.ts';

/** One recipient to move, and the values that the transition writes. */
export interface Move extends RecipientKey {
  /** The current lease, if the transition requires one. */
  readonly lease?: string;
  /** The lease to acquire. */
  readonly new_lease?: string;
  /** Facts of the event, if the transition records one. */
  readonly event_id?: string;
  readonly event_facts?: Readonly<Record<string, unknown>>;
  readonly due_at?: Date;
  readonly job_id?: string;
  readonly last_response?: string;
  readonly reason?: string;
}

export interface MovedRecipient extends RecipientKey {
  readonly state: DeliveryState;
  readonly attempt_count: number;
}

// Renewed every 5 s, so a worker that is cut off for 20 s still has its leases when it comes back.
export const LEASE_SECONDS = 30;

/** A claim counts as an attempt; releasing it untried undoes that. */
const ATTEMPTS_COUNTED: Partial<Record<TransitionName, number>> = { claim: 1, take_over: 1, hand_back: -1 };

/** Matches recipients r to a key by the primary key. */
export function isRecipient(sql: Sql | Tx, key: string, id = 'recipient_id'): Fragment {
  const first = equalsByRange(sql, sql`r.message_id`, sql.unsafe(`${key}.message_id`));
  return sql`${first} and ${sql.unsafe(`r.id = ${key}.${id} and r.workspace_id = ${key}.workspace_id`)}`;
}

/** Matches recipients r to a key by the primary key, in a statement that also locks rows. */
export function isRecipientUnpruned(sql: Sql | Tx, key: string): Fragment {
  const values = sql.unsafe(`${key}.message_id, ${key}.recipient_id, ${key}.workspace_id`);
  return equalsUnpruned(sql, sql`r.message_id, r.id, r.workspace_id`, values);
}

/** Matches message m to a key by the primary key, which starts with the workspace. */
function isMessage(sql: Sql | Tx, key: string): Fragment {
  const first = equalsByRange(sql, sql`m.workspace_id`, sql.unsafe(`${key}.workspace_id`));
  return sql`${first} and ${sql.unsafe(`m.id = ${key}.message_id`)}`;
}

/** Matches message m to a key by the primary key, in a statement that also locks rows. */
function isMessageUnpruned(sql: Sql | Tx, key: string): Fragment {
  return equalsUnpruned(sql, sql`m.workspace_id, m.id`, sql.unsafe(`${key}.workspace_id, ${key}.message_id`));
}

/**
 * Moves many recipients in one statement, aggregates the status of their messages, appends the events, and returns the
 * moved rows: a row in another state, not due, or under another lease is left alone. Every state change of existing
 * recipients goes through won(), in this function, in claim or in claimAndLoad, or through settleDelivered.
 *
 * Messages are locked first, in id order, so that siblings moved by two transactions aggregate one after the other, and
 * two batches cannot deadlock. A claim neither locks nor updates the message: most attempts end before anyone could see
 * them, and the end of the attempt aggregates the message. During long attempts, showAttempts aggregates it.
 */
export async function transition(tx: Tx, name: TransitionName, moves: readonly Move[]): Promise<MovedRecipient[]> {
  if (moves.length === 0) return [];
  if (isClaim(name)) return claim(tx, moves, name);
  const { to, event } = transitions[name];
  const is_message_event = event !== null && isMessageEvent(event);
  const locked = lockMessages(tx, moves);
  const moved = tx<MovedRecipient[]>`
    with ${won(tx, name, moves)},
    folded as (
      select w.workspace_id, w.message_id, w.ids, w.event_ids, w.event_facts, w.first_attempt_at,
        -- A range, because with an equality the planner may hash all events before it looks for one.
        case when ${is_message_event} then (not exists (
          select from events e where e.message_id >= w.message_id and e.message_id <= w.message_id
            and ${apart(tx, tx`e.workspace_id`, tx`w.workspace_id`)} and e.type = ${event}
        ))::int else cardinality(w.ids) end as recorded,
        least(${to}::delivery_state, (
          select min(s.state) from recipients s
          where s.workspace_id = w.workspace_id and s.message_id = w.message_id and s.id <> all (w.ids)
        )) as status
      from (
        select workspace_id, message_id,
          ${firstAttempt(tx, name)} as first_attempt_at,
          array_agg(recipient_id order by event_id) as ids, array_agg(event_id order by event_id) as event_ids,
          array_agg(event_facts order by event_id) as event_facts
        from won group by workspace_id, message_id
      ) w
    ),
    touched as (
      update messages m set
        status = f.status,
        sent_at = case when ${name === 'hand_back'} then f.first_attempt_at else coalesce(m.sent_at, f.first_attempt_at) end,
        delivered_at = case when ${to} = 'delivered' then clock_now() else m.delivered_at end,
        event_count = m.event_count + case when ${event !== null} then f.recorded else 0 end,
        last_event_type = case when f.recorded > 0 then coalesce(${event}::text, m.last_event_type) else m.last_event_type end,
        last_event_at = case when ${event !== null} and f.recorded > 0 then clock_now() else m.last_event_at end
      from folded f
      where ${isMessage(tx, 'f')}
      returning m.workspace_id, m.id, m.event_count, f.recorded, f.ids, f.event_ids, f.event_facts
    ),
    -- The facts of the events come in arrays, because a join of moved and touched rows would compare each with each.
    recorded as (
      insert into events (workspace_id, id, type, message_id, recipient_id, sequence, facts, created_at)
      select t.workspace_id, e.id, ${event}::text, t.id, case when not ${is_message_event} then e.recipient_id end,
        t.event_count - t.recorded + e.place::int, e.facts, clock_now()
      from touched t
      cross join lateral unnest(t.ids, t.event_ids, t.event_facts) with ordinality as e (recipient_id, id, facts, place)
      where ${event !== null} and e.place <= t.recorded
    )
    select workspace_id, message_id, recipient_id, state, attempt_count from won`;
  const [, rows] = await Promise.all([locked, moved]);
  return rows;
}

/** Returns the recipients among these that were given up during their attempt. Served by the primary key. */
export async function givenUpAmong(tx: Tx, keys: readonly RecipientKey[]): Promise<RecipientKey[]> {
  if (keys.length === 0) return [];
  return tx<RecipientKey[]>`
    select r.workspace_id, r.message_id, r.id as recipient_id
    from unnest(
      ${keys.map((key) => key.workspace_id)}::uuid[],
      ${keys.map((key) => key.message_id)}::uuid[],
      ${keys.map((key) => key.recipient_id)}::uuid[]
    ) as a (workspace_id, message_id, recipient_id)
    join recipients r on ${isRecipient(tx, 'a')}
    where r.giving_up`;
}

/**
 * Locks and returns the recipients among these, by attempt number, that were taken from their worker and that no other
 * worker has tried since.
 */
export async function untriedSince(
  tx: Tx,
  attempts: readonly (RecipientKey & { readonly number: number })[],
): Promise<RecipientKey[]> {
  return tx<RecipientKey[]>`
    select r.workspace_id, r.message_id, r.id as recipient_id
    from unnest(
      ${attempts.map((attempt) => attempt.workspace_id)}::uuid[],
      ${attempts.map((attempt) => attempt.message_id)}::uuid[],
      ${attempts.map((attempt) => attempt.recipient_id)}::uuid[],
      ${attempts.map((attempt) => attempt.number)}::int[]
    ) as a (workspace_id, message_id, recipient_id, number)
    join recipients r on ${isRecipientUnpruned(tx, 'a')}
    where r.attempt_count = a.number and (r.state = 'queued' or (r.state = 'failed' and r.reason = ${OUTCOME_UNKNOWN}))
    for no key update of r`;
}

type ClaimName = 'claim' | 'take_over';

function isClaim(name: TransitionName): name is ClaimName {
  return name === 'claim' || name === 'take_over';
}

/** Runs the transition `claim`: a single statement that needs no surrounding transaction. */
export async function claim(
  sql: Sql | Tx,
  moves: readonly Move[],
  name: ClaimName = 'claim',
): Promise<MovedRecipient[]> {
  return sql<MovedRecipient[]>`
    with ${won(sql, name, moves)}
    select workspace_id, message_id, recipient_id, state, attempt_count from won`;
}

function orderOf({ message_id, recipient_id }: RecipientKey): string {
  return message_id + recipient_id;
}

/**
 * Returns SQL for the first attempt time of a message, from the moved rows; if an attempt is undone, from the message's
 * other recipients.
 */
function firstAttempt(tx: Sql | Tx, name: TransitionName): Fragment {
  if (name !== 'hand_back') return tx`min(first_attempt_at)`;
  return tx`least(min(first_attempt_at), (
    select min(s.first_attempt_at) from recipients s
    where s.workspace_id = won.workspace_id and s.message_id = won.message_id and s.id <> all (array_agg(won.recipient_id))
  ))`;
}

/** Returns the moved recipients, as the first part of the statement. */
function won(tx: Sql | Tx, name: TransitionName, unordered: readonly Move[]): Fragment {
  const { from, to, leased } = transitions[name];
  // Lock order, so that batches wait for each other instead of deadlocking.
  const moves = unordered.toSorted((left, right) => (orderOf(left) < orderOf(right) ? -1 : 1));
  const claiming = isClaim(name);
  return tx`
    moves as materialized (
      select * from unnest(
        ${moves.map((move) => move.workspace_id)}::uuid[],
        ${moves.map((move) => move.message_id)}::uuid[],
        ${moves.map((move) => move.recipient_id)}::uuid[],
        ${moves.map((move) => move.lease ?? null)}::uuid[],
        ${moves.map((move) => move.new_lease ?? null)}::uuid[],
        ${moves.map((move) => move.event_id ?? null)}::uuid[],
        ${moves.map((move) => JSON.stringify(move.event_facts ?? {}))}::text[],
        ${isoTimes(moves.map((move) => move.due_at ?? null))}::timestamptz[],
        ${moves.map((move) => move.job_id ?? null)}::uuid[],
        ${moves.map((move) => move.last_response ?? null)}::text[],
        ${moves.map((move) => move.reason ?? null)}::text[]
      ) as a (workspace_id, message_id, recipient_id, lease, new_lease, event_id, event_facts, due_at, job_id,
        last_response, reason)
    ),
    won as (
      update recipients r set
        state = ${to},
        lease = m.new_lease,
        lease_until = case when m.new_lease is not null then clock_now() + make_interval(secs => ${LEASE_SECONDS}) end,
        attempt_count = r.attempt_count + ${ATTEMPTS_COUNTED[name] ?? 0}::int,
        first_attempt_at = case when ${claiming} then coalesce(r.first_attempt_at, clock_now())
          when ${name === 'hand_back'} and r.attempt_count = 1 then null else r.first_attempt_at end,
        due_at = coalesce(m.due_at, r.due_at),
        job_id = coalesce(m.job_id, r.job_id),
        last_response = coalesce(m.last_response, r.last_response),
        captured = r.captured or m.event_facts::jsonb ? 'captured',
        relayed = case when ${to === 'delivered'} then m.event_facts::jsonb ? 'relayed' else r.relayed end,
        reason = case when ${name !== 'confirm'} then coalesce(m.reason, r.reason) end
      from moves m
      where ${isRecipient(tx, 'm')}
        and r.state = any (${[...from]}::text[]::delivery_state[])
        and case when ${leased} then r.lease = m.lease else r.lease is null or r.lease_until < clock_now() end
        and (not ${claiming || name === 'release'} or r.due_at <= clock_now())
        ${
          claiming
            ? tx`and (r.content_lease is null or r.content_lease is distinct from r.lease)
          and not exists (${suppressionOf(tx)})`
            : tx``
        }
      returning r.workspace_id, r.message_id, r.id as recipient_id, r.email, r.state, r.attempt_count, r.first_attempt_at,
        m.event_id, m.event_facts
    )`;
}

/** Aggregates the messages of long attempts, so that lists find them under the status that their entries show. */
export async function showAttempts(sql: Sql, keys: readonly RecipientKey[]): Promise<void> {
  await sql.begin(async (tx) => {
    await lockMessages(tx, keys);
    // A separate statement, so that its snapshot includes the commits made while waiting for the locks.
    await tx`
      update messages m set status = f.status, sent_at = coalesce(m.sent_at, f.first_attempt_at)
      from unnest(
        ${keys.map((key) => key.workspace_id)}::uuid[],
        ${keys.map((key) => key.message_id)}::uuid[]
      ) as a (workspace_id, message_id)
      cross join lateral (
        select min(r.state) as status, min(r.first_attempt_at) as first_attempt_at from recipients r
        where r.workspace_id = a.workspace_id and r.message_id = a.message_id
      ) f
      where ${isMessage(tx, 'a')} and f.status = 'sending' and m.status <> f.status`;
  });
}

/**
 * Returns SQL for the active suppression of recipient r, by primary key. `${fence}` keeps the planner from reading the
 * whole list for a batch.
 */
function suppressionOf(tx: Sql | Tx): Fragment {
  return tx`
    select s.id from suppressions s
    where s.workspace_id = r.workspace_id and s.email = suppression_key(r.email)
      and ${stillSuppressed(tx)}
    ${fence}`;
}

/**
 * Locks messages in id order. A transaction with several transitions locks all of its messages first, because each
 * transition would lock in its own order.
 */
export async function lockMessages(
  tx: Tx,
  keys: readonly Pick<RecipientKey, 'workspace_id' | 'message_id'>[],
): Promise<void> {
  const messages = [...new Map(keys.map((key) => [key.message_id, key.workspace_id]))].sort(([left], [right]) =>
    left < right ? -1 : 1,
  );
  await tx`
    select from unnest(
      ${messages.map(([, workspace_id]) => workspace_id)}::uuid[],
      ${messages.map(([id]) => id)}::uuid[]
    ) as a (workspace_id, message_id)
    cross join lateral (select from messages m where ${isMessageUnpruned(tx, 'a')} for no key update) locked`;
}

/** The data of a claimed recipient and its message that an attempt needs. */
export interface DeliveryRow extends RecipientKey {
  readonly email: string;
  readonly mode: KeyMode;
  readonly unknown_policy: UnknownPolicy;
  readonly created_at: Date;
  readonly scheduled_at: Date | null;
  readonly trace_parent: string | null;
  readonly from_address: string;
  readonly from_domain: string;
  readonly to_addresses: readonly string[];
  readonly cc_addresses: readonly string[];
  readonly reply_to: string | null;
  readonly subject: string;
  readonly body_bytes: number;
  /** The envelope domain of the sending domain, once its record has been verified. */
  readonly return_path: string | null;
  /** The active signing keys of the sending domain; empty if it is removed, suspended or failed. */
  readonly signing_key_ids: readonly string[];
  readonly recipient_count: number;
  /** Whether any suppression is stored under a hash of its address. */
  readonly hashes_in_use: boolean;
}

/** Includes the body, if it is stored and small enough to be read in a batch. */
export type LoadedRow = DeliveryRow & { readonly attempt_count: number } & {
  -readonly [K in keyof Body]: Body[K] | null;
};

/** 200 bodies of this size, a whole claim, take 50 MB. Larger ones are read one by one before sending. */
export const READ_TOGETHER_BYTES = 256 * 1024;

/** Returns the part of a statement that reads the send data of a source's recipients, by primary keys. */
function loading(sql: Sql | Tx, source: Fragment): Fragment {
  return sql`
    select r.workspace_id, r.message_id, r.recipient_id, r.attempt_count, r.email, m.mode, w.unknown_policy, m.created_at, m.scheduled_at, m.trace_parent,
      m.from_address, m.from_domain, m.to_addresses, m.cc_addresses, m.reply_to, m.subject, m.recipient_count,
      m.body_bytes, case when d.return_path_ready then d.return_path end as return_path,
      case when d.status in ('verified', 'at_risk') then d.signing_key_ids else '{}' end as signing_key_ids,
      b.html, b.text, b.headers, b.attachments,
      (select coalesce(bool_or(h.in_use), false) from suppression_hash_keys h) as hashes_in_use
    from ${source} r
    cross join lateral (select * from messages x where x.workspace_id = r.workspace_id and x.id = r.message_id ${fence}) m
    cross join lateral (select x.unknown_policy from workspaces x where x.id = r.workspace_id ${fence}) w
    left join lateral (
      select * from domains x where x.workspace_id = r.workspace_id and x.name = m.from_domain ${fence}
    ) d on true
    left join lateral (
      select * from bodies x where x.workspace_id = r.workspace_id and x.message_id = r.message_id
        and m.body_bytes <= ${READ_TOGETHER_BYTES} ${fence}
    ) b on true`;
}

/** Reads the send data of recipients that are already claimed. */
export async function loadDeliveries(sql: Sql | Tx, keys: readonly RecipientKey[]): Promise<LoadedRow[]> {
  return sql<LoadedRow[]>`
    ${loading(
      sql,
      sql`(
        select x.workspace_id, x.message_id, x.id as recipient_id, x.email, x.attempt_count
        from unnest(
          ${keys.map((key) => key.workspace_id)}::uuid[],
          ${keys.map((key) => key.message_id)}::uuid[],
          ${keys.map((key) => key.recipient_id)}::uuid[]
        ) as a (workspace_id, message_id, recipient_id)
        cross join lateral (select * from recipients x where x.workspace_id = a.workspace_id
          and x.message_id = a.message_id and x.id = a.recipient_id ${fence}) x
      )`,
    )}`;
}

/** Claims recipients and reads their send data in one statement that needs no surrounding transaction. */
export async function claimAndLoad(sql: Sql, moves: readonly Move[]): Promise<LoadedRow[]> {
  return sql<LoadedRow[]>`with ${won(sql, 'claim', moves)} ${loading(sql, sql`won`)}`;
}

export interface Body {
  readonly html: string | null;
  readonly text: string | null;
  readonly headers: string;
  readonly attachments: string;
}

/** Returns bodies by message id, without deleted ones. Served by the primary key. */
export async function loadBodies(
  sql: Sql | Tx,
  keys: readonly Pick<RecipientKey, 'workspace_id' | 'message_id'>[],
): Promise<Map<string, Body>> {
  const rows = await sql<(Body & { message_id: string })[]>`
    select b.message_id, b.html, b.text, b.headers, b.attachments
    from unnest(
      ${keys.map((key) => key.workspace_id)}::uuid[],
      ${keys.map((key) => key.message_id)}::uuid[]
    ) as a (workspace_id, message_id)
    cross join lateral (select * from bodies x where x.workspace_id = a.workspace_id and x.message_id = a.message_id ${fence}) b`;
  return new Map(rows.map((row) => [row.message_id, row]));
}

/** Why a claim failed: closed, under a live lease, due later, or suppressed. */
export interface UnclaimedRecipient extends RecipientKey {
  readonly state: DeliveryState;
  readonly due_at: Date;
  readonly due: boolean;
  readonly lease_until: Date | null;
  readonly job_id: string | null;
  readonly suppression_id: string | null;
  /** Whether the worker was lost after it may have sent the whole message, which must not be sent again. */
  readonly interrupted: boolean;
  /** Whether the worker that was sending the message was lost. */
  readonly abandoned: boolean;
  readonly attempt_count: number;
}

export async function loadUnclaimed(tx: Tx, keys: readonly RecipientKey[]): Promise<UnclaimedRecipient[]> {
  return tx<UnclaimedRecipient[]>`
    select r.workspace_id, r.message_id, r.id as recipient_id, r.state, r.due_at, r.due_at <= clock_now() as due, r.lease_until,
      r.job_id, (${suppressionOf(tx)}) as suppression_id, r.attempt_count,
      coalesce(r.state = 'sending' and r.content_lease = r.lease and r.lease_until < clock_now(), false) as interrupted,
      r.state = 'sending' and (r.lease is null or r.lease_until < clock_now()) as abandoned
    from unnest(
      ${keys.map((key) => key.workspace_id)}::uuid[],
      ${keys.map((key) => key.message_id)}::uuid[],
      ${keys.map((key) => key.recipient_id)}::uuid[]
    ) as a (workspace_id, message_id, recipient_id)
    join recipients r on ${isRecipient(tx, 'a')}`;
}

/** Stores job ids on their recipients, so that the reconciler can tell whether a live job exists. */
export async function rememberJobs(
  tx: Tx,
  jobs: readonly (RecipientKey & { readonly job_id: string })[],
): Promise<void> {
  if (jobs.length === 0) return;
  await tx`
    update recipients r set job_id = a.job_id
    from unnest(
      ${jobs.map((job) => job.workspace_id)}::uuid[],
      ${jobs.map((job) => job.message_id)}::uuid[],
      ${jobs.map((job) => job.recipient_id)}::uuid[],
      ${jobs.map((job) => job.job_id)}::uuid[]
    ) as a (workspace_id, message_id, recipient_id, job_id)
    where ${isRecipient(tx, 'a')}`;
}

/**
 * Extends the leases of a worker and returns those it still has. Skips rows being settled: they no longer need a lease,
 * and waiting for them in another order could deadlock.
 */
export async function renewLeases(
  sql: Sql,
  leases: readonly (RecipientKey & { readonly lease: string })[],
): Promise<Set<string>> {
  const rows = await sql<{ lease: string }[]>`
    with held as materialized (
      select r.workspace_id, r.message_id, r.id
      from recipients r
      join unnest(
        ${leases.map((lease) => lease.workspace_id)}::uuid[],
        ${leases.map((lease) => lease.message_id)}::uuid[],
        ${leases.map((lease) => lease.recipient_id)}::uuid[],
        ${leases.map((lease) => lease.lease)}::uuid[]
      ) as a (workspace_id, message_id, recipient_id, lease)
        on ${isRecipientUnpruned(sql, 'a')}
      where r.lease = a.lease and r.state = 'sending'
      for no key update of r skip locked
    )
    update recipients r set lease_until = clock_now() + make_interval(secs => ${LEASE_SECONDS})
    from held h
    where ${isRecipient(sql, 'h', 'id')}
    returning r.lease`;
  return new Set(rows.map((row) => row.lease));
}

/**
 * Records that the content is about to be sent under a lease. Returns false if the lease is lost; nothing may be sent
 * then.
 */
export async function markContent(
  sql: Sql,
  { workspace_id, message_id, recipient_id }: RecipientKey,
  lease: string,
): Promise<boolean> {
  const rows = await sql`
    update recipients set content_lease = lease
    where workspace_id = ${workspace_id} and message_id = ${message_id} and id = ${recipient_id}
      and lease = ${lease} and state = 'sending' and lease_until > clock_now()
    returning id`;
  return rows.length > 0;
}

/** A delivered message with one recipient. */
export interface DeliveredRecipient {
  readonly job: JobHold;
  readonly lease: string;
  readonly event_id: string;
  readonly event_facts: Readonly<Record<string, unknown>>;
  readonly last_response: string;
  readonly attempt: NewAttempt;
}

const attemptTexts = [
  'outcome',
  'stage',
  'target',
  'address',
  'tls',
  'tls_policy',
  'reply_enhanced',
  'reply_text',
  'error',
  'phases_ms',
] as const satisfies readonly (keyof NewAttempt)[];

const TAKEN_COLUMNS = [
  'workspace_id::uuid',
  'message_id::uuid',
  'recipient_id::uuid',
  'job_id::uuid',
  'retry_count',
  'lease::uuid',
  'event_id::uuid',
  'event_facts',
  'last_response',
  'attempt_id::uuid',
  'number',
  'reply_code',
  'duration_ms',
  'transcript',
  'transport_id::uuid',
  ...attemptTexts,
];

/** Returns whether the values fit into the batched text. */
export function fitsTogether({ attempt, last_response }: DeliveredRecipient): boolean {
  return (
    fitsRecord(last_response) &&
    fitsRecord(attempt.transcript ?? '') &&
    attemptTexts.every((name) => fitsRecord(attempt[name] ?? ''))
  );
}

/**
 * Runs the transition `deliver` for single-recipient messages, with their attempts and the completion of their jobs, in
 * one statement that needs no surrounding transaction: without siblings, the message status follows from the recipient.
 * Messages, then recipients, are locked in id order, as everywhere. Returns the moved recipients; the others lost their
 * lease.
 */
export async function settleDelivered(
  sql: Sql | Tx,
  jobs: { removal(sql: Sql | Tx, name: 'delivery.attempt', source: Fragment): Fragment },
  unordered: readonly DeliveredRecipient[],
): Promise<Set<string>> {
  if (unordered.length === 0) return new Set();
  const { to, event } = transitions.deliver;
  const delivered = unordered.toSorted((left, right) => (orderOf(left.attempt) < orderOf(right.attempt) ? -1 : 1));
  const texts = recordTexts(
    delivered.map(({ job, lease, event_id, event_facts, last_response, attempt }) => [
      uuidOfId(attempt.workspace_id),
      uuidOfId(attempt.message_id),
      uuidOfId(attempt.recipient_id),
      job.id,
      job.retry_count,
      lease,
      uuidOfId(event_id),
      JSON.stringify(event_facts),
      last_response,
      uuidOfId(attempt.id),
      attempt.number,
      attempt.reply_code,
      attempt.duration_ms,
      attempt.transcript,
      attempt.transport_id === null ? null : uuidOfId(attempt.transport_id),
      ...attemptTexts.map((name) => attempt[name]),
    ]),
  );
  const rows = await sql<{ recipient_id: string }[]>`
    with given as materialized (select * from ${recordsIn(sql, texts, TAKEN_COLUMNS)} r),
    locked as materialized (
      select g.* from given g cross join lateral (
        select from messages m where ${isMessageUnpruned(sql, 'g')} for no key update
      ) l
    ),
    won as (
      update recipients r set state = ${to}, lease = null, lease_until = null, last_response = g.last_response,
        -- The last field. A quote inside a reply is escaped, so no reply can look like it.
        captured = g.event_facts like '%,"captured":true}', relayed = g.event_facts like '%,"relayed":true}'
      from locked g
      where ${isRecipientUnpruned(sql, 'g')} and r.state = 'sending' and r.lease = g.lease
      returning r.first_attempt_at, g.*
    ),
    touched as (
      update messages m set
        status = ${to}, sent_at = coalesce(m.sent_at, w.first_attempt_at), delivered_at = clock_now(),
        event_count = m.event_count + 1, last_event_type = ${event}, last_event_at = clock_now()
      from won w
      where ${isMessageUnpruned(sql, 'w')}
      returning m.workspace_id, m.id, m.event_count, w.event_id, w.recipient_id, w.event_facts
    ),
    recorded as (
      insert into events (workspace_id, id, type, message_id, recipient_id, sequence, facts, created_at)
      select workspace_id, event_id, ${event}, id, recipient_id, event_count, event_facts, clock_now() from touched
    ),
    tried as (
      insert into attempts (workspace_id, message_id, id, recipient_id, number, reply_code, transport_id, started_at, finished_at,
        ${sql.unsafe(attemptTexts.join(', '))})
      select workspace_id, message_id, attempt_id, recipient_id, number::int, reply_code::int, transport_id,
        clock_now() - make_interval(secs => duration_ms::float8 / 1000.0), clock_now(),
        ${sql.unsafe(attemptTexts.join(', '))}
      from won
    ),
    told as (
      insert into transcripts (workspace_id, message_id, attempt_id, transcript)
      select workspace_id, message_id, attempt_id, transcript from won where transcript is not null
    ),
    removed as (
      ${jobs.removal(sql, 'delivery.attempt', sql`select job_id as id, retry_count::int as retry_count from given`)}
    )
    select recipient_id from won`;
  return new Set(rows.map((row) => row.recipient_id));
}
