import type { Sql, Tx } from '@postrider/db';
import type { ReturnPath } from '../delivery/index.ts';
import type { FeedbackKind, FeedbackReport } from './provider.ts';

export interface FeedbackRow {
  readonly transport_id: string;
  readonly provider: string;
  /** Encrypted. */
  readonly secrets: Buffer;
  readonly previous_until: Date | null;
  readonly confirmed_at: Date | null;
  readonly rejected_at: Date | null;
  readonly rejection: string | null;
  readonly created_at: Date;
}

const columns = (sql: Sql | Tx) => sql`
  f.transport_id, f.provider, f.secrets, f.previous_until, f.confirmed_at, f.rejected_at, f.rejection, f.created_at`;

export async function feedbackOf(sql: Sql | Tx, transport_id: string): Promise<FeedbackRow | null> {
  const [row] = await sql<FeedbackRow[]>`
    select ${columns(sql)} from transport_feedback f where f.transport_id = ${transport_id}`;
  return row ?? null;
}

/** Returns the feedback whose address has this token, or had it until recently. */
export async function feedbackByToken(sql: Sql, token_hash: Buffer): Promise<FeedbackRow | null> {
  const [row] = await sql<FeedbackRow[]>`
    select ${columns(sql)} from transport_feedback f
    where f.token_hash = ${token_hash} or f.previous_token_hash = ${token_hash} and f.previous_until > clock_now()`;
  return row ?? null;
}

/** Stores the feedback of a transport; a token that is replaced stays valid for `overlap_seconds`. */
export async function putFeedback(
  tx: Tx,
  row: Pick<FeedbackRow, 'transport_id' | 'provider' | 'secrets'> & { readonly token_hash: Buffer },
  overlap_seconds: number,
): Promise<FeedbackRow> {
  const [stored] = await tx<FeedbackRow[]>`
    insert into transport_feedback as f (transport_id, provider, token_hash, secrets, created_at)
    values (${row.transport_id}, ${row.provider}, ${row.token_hash}, ${row.secrets}, clock_now())
    on conflict (transport_id) do update set provider = excluded.provider, token_hash = excluded.token_hash,
      previous_token_hash = case when ${overlap_seconds > 0} then f.token_hash end,
      previous_until = case when ${overlap_seconds > 0} then clock_now() + make_interval(secs => ${overlap_seconds}) end,
      secrets = excluded.secrets, rejected_at = null, rejection = null
    returning ${columns(tx)}`;
  if (!stored) throw new Error('the feedback was not stored');
  return stored;
}

export async function dropFeedback(tx: Tx, transport_id: string): Promise<void> {
  await tx`delete from transport_feedback where transport_id = ${transport_id}`;
  await tx`delete from relay_receipts where transport_id = ${transport_id}`;
}

/** Notes a post without a valid proof, at most once a second, so that a flood of them writes little. */
export async function noteRejection(sql: Sql, transport_id: string, problem: string): Promise<void> {
  await sql`
    update transport_feedback set rejected_at = clock_now(), rejection = ${problem}
    where transport_id = ${transport_id} and coalesce(rejected_at, '-infinity') < clock_now() - interval '1 second'`;
}

/** Returns how many events wait for their match, counted up to a maximum. */
export async function pendingCount(sql: Sql | Tx, transport_id: string, max: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from feedback_events where transport_id = ${transport_id} and state = 'pending' limit ${max}
    ) e`;
  return row?.count ?? 0;
}

export interface NewReport extends FeedbackReport {
  /** Hexadecimal. Null if the ID alone decides whether an event is the same. */
  readonly digest: string | null;
}

/**
 * Stores the events of a post that are not there yet. Returns false, and stores nothing, if one is there with another
 * digest.
 */
export async function storeReports(tx: Tx, transport_id: string, reports: readonly NewReport[]): Promise<boolean> {
  const sorted = reports.toSorted((left, right) => (left.event_id < right.event_id ? -1 : 1));
  const ids = sorted.map(({ event_id }) => event_id);
  const digests = sorted.map(({ digest }) => digest);
  if (digests.some((digest) => digest !== null)) {
    // Of two posts at the same moment, the second one sees what the first one stored.
    await tx`select from transport_feedback where transport_id = ${transport_id} for no key update`;
    const others = await tx`
      select from feedback_events e
      join unnest(${ids}::text[], ${digests}::text[]) as r (event_id, digest) on r.event_id = e.event_id
      where e.transport_id = ${transport_id} and e.digest <> decode(r.digest, 'hex') limit 1`;
    if (others.length > 0) return false;
  }
  // At most once a second, because requests at the same moment would wait for each other's commit.
  await tx`
    update transport_feedback set confirmed_at = clock_now()
    where transport_id = ${transport_id} and coalesce(confirmed_at, '-infinity') < clock_now() - interval '1 second'`;
  await tx`
    insert into feedback_events (transport_id, event_id, kind, state, facts, digest, received_at, due_at)
    select ${transport_id}, r.event_id, r.kind, 'pending', r.facts, decode(r.digest, 'hex'), clock_now(), clock_now()
    from unnest(
      ${ids}::text[],
      ${sorted.map(({ kind }) => kind)}::text[],
      ${sorted.map(({ facts }) => JSON.stringify(facts))}::text[],
      ${digests}::text[]
    ) as r (event_id, kind, facts, digest)
    on conflict do nothing`;
  return true;
}

export interface DueEvent {
  readonly transport_id: string;
  readonly event_id: string;
  readonly kind: FeedbackKind;
  /** JSON. */
  readonly facts: string;
  readonly received_at: Date;
}

/**
 * Takes due events, up to a number per transport, and leases them: a process that dies leaves them to the next one.
 * Served by feedback_events_due.
 */
export async function takeDueEvents(
  sql: Sql,
  per_transport: number,
  lease_seconds: number,
  transport_id: string | null,
): Promise<DueEvent[]> {
  const only = transport_id === null ? sql`true` : sql`f.transport_id = ${transport_id}`;
  return sql<DueEvent[]>`
    with due as materialized (
      select e.transport_id, e.event_id from transport_feedback f
      cross join lateral (
        select x.transport_id, x.event_id from feedback_events x
        where x.transport_id = f.transport_id and x.state = 'pending' and x.due_at <= clock_now()
        order by x.due_at limit ${per_transport} for update skip locked
      ) e
      where ${only}
    )
    update feedback_events e set due_at = clock_now() + make_interval(secs => ${lease_seconds})
    from due d where e.transport_id = d.transport_id and e.event_id = d.event_id
    returning e.transport_id, e.event_id, e.kind, e.facts, e.received_at`;
}

/**
 * Ends an event, or leaves it pending until it is due again. Of one that has been matched, only the email is kept, whose
 * recipient can be erased.
 */
export async function settleEvent(
  sql: Sql,
  { transport_id, event_id }: Pick<DueEvent, 'transport_id' | 'event_id'>,
  { state, detail, message_id }: Pick<EventRow, 'state' | 'detail' | 'message_id'>,
  again_in_seconds: number,
): Promise<void> {
  await sql`
    update feedback_events set
      state = ${state}, detail = ${detail}, message_id = ${message_id},
      facts = case when ${message_id !== null} then '{}' else facts end,
      due_at = clock_now() + make_interval(secs => ${again_in_seconds})
    where transport_id = ${transport_id} and event_id = ${event_id} and state = 'pending'`;
}

export interface EventRow {
  readonly event_id: string;
  readonly kind: FeedbackKind;
  readonly state: 'pending' | 'recorded' | 'ignored' | 'unmatched';
  /** JSON. */
  readonly facts: string;
  readonly detail: string | null;
  /** The email that it was matched with. */
  readonly message_id: string | null;
  readonly received_at: Date;
}

/** Returns the last events of a transport. Served by feedback_events_received. */
export async function lastEvents(sql: Sql, transport_id: string, count: number): Promise<EventRow[]> {
  return sql<EventRow[]>`
    select event_id, kind, state, facts, detail, message_id, received_at from feedback_events
    where transport_id = ${transport_id} order by received_at desc limit ${count}`;
}

/** Returns the recipient of a message with this address, as a return path; null if there is none. */
export async function recipientAt(sql: Sql, message_id: string, email: string): Promise<ReturnPath | null> {
  const [row] = await sql<{ id: string }[]>`
    select id from recipients where message_id = ${message_id} and lower(email) = lower(${email}) limit 1`;
  return row ? { message_id, recipient_end: row.id.slice(-16) } : null;
}

/** Returns the recipient of the email that a relay gave an ID, as a return path; null if there is none. */
export async function recipientOfReceipt(sql: Sql, transport_id: string, relay_id: string): Promise<ReturnPath | null> {
  const [row] = await sql<{ message_id: string; recipient_id: string }[]>`
    select message_id, recipient_id from relay_receipts
    where transport_id = ${transport_id} and relay_id = ${relay_id}`;
  return row ? { message_id: row.message_id, recipient_end: row.recipient_id.slice(-16) } : null;
}

export interface Passage {
  readonly id: string;
  readonly email: string;
  readonly state: string;
  /** Whether this transport took an attempt for the recipient, or may have. */
  readonly is_through: boolean;
}

/** Returns whether a recipient's email went through a transport; null if it is no longer stored. */
export async function passageOf(sql: Sql, path: ReturnPath, transport_id: string): Promise<Passage | null> {
  const rows = await sql<Passage[]>`
    select r.id, r.email, r.state, exists (
      select from attempts a where a.message_id = r.message_id and a.workspace_id = r.workspace_id
        and a.recipient_id = r.id and a.transport_id = ${transport_id} and a.outcome in ('accepted', 'unknown')
    ) as is_through
    from recipients r where r.message_id = ${path.message_id}`;
  return rows.find(({ id }) => id.endsWith(path.recipient_end)) ?? null;
}

/**
 * Records that the recipient's server accepted an email, according to its relay. Returns false if the recipient is not
 * delivered. Served by the primary key.
 */
export async function confirmDelivery(sql: Sql, message_id: string, recipient_id: string, at: Date): Promise<boolean> {
  const rows = await sql`
    update recipients set confirmed_at = coalesce(confirmed_at, ${at})
    where message_id = ${message_id} and id = ${recipient_id} and state = 'delivered'
    returning id`;
  return rows.length > 0;
}

/** Deletes old receipts. Served by relay_receipts_created. */
export async function forgetReceipts(tx: Tx, days: number): Promise<void> {
  await tx`delete from relay_receipts where created_at < clock_now() - make_interval(days => ${days})`;
}

/**
 * Deletes old events, and the oldest ones of a transport that has more than a number of them: its relay decides how many
 * it posts. Served by feedback_events_received.
 */
export async function forgetFeedback(tx: Tx, days: number, max_per_transport: number): Promise<void> {
  await tx`delete from feedback_events where received_at < clock_now() - make_interval(days => ${days})`;
  await tx`
    delete from feedback_events e using (
      select f.transport_id, (
        select x.received_at from feedback_events x where x.transport_id = f.transport_id
        order by x.received_at desc offset ${max_per_transport} limit 1
      ) as edge
      from transport_feedback f
    ) t
    where e.transport_id = t.transport_id and e.received_at <= t.edge and e.state <> 'pending'`;
}
