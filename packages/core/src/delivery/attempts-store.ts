import type { Fragment, Sql, Tx } from '@postrider/db';
import type { SendOutcome } from '@postrider/mail';
import type { RecipientKey } from '../states/index.ts';
import type { RefusalCategory } from './classify.ts';

export interface NewAttempt extends RecipientKey {
  readonly id: string;
  readonly number: number;
  readonly outcome: 'accepted' | 'deferred' | 'rejected' | 'unknown';
  readonly category: RefusalCategory | null;
  readonly stage: string;
  readonly target: string;
  readonly address: string | null;
  readonly tls: string | null;
  readonly tls_policy: string | null;
  readonly reply_code: number | null;
  readonly reply_enhanced: string | null;
  readonly reply_text: string | null;
  readonly error: string | null;
  readonly phases_ms: string;
  readonly transcript: string | null;
  readonly duration_ms: number;
  /** The transport that was tried last; null: the default one. */
  readonly transport_id: string | null;
}

export async function insertAttempts(tx: Tx, attempts: readonly NewAttempt[]): Promise<void> {
  if (attempts.length === 0) return;
  await tx`
    with tried as materialized (
      select * from unnest(
      ${attempts.map((attempt) => attempt.workspace_id)}::uuid[],
      ${attempts.map((attempt) => attempt.message_id)}::uuid[],
      ${attempts.map((attempt) => attempt.id)}::uuid[],
      ${attempts.map((attempt) => attempt.recipient_id)}::uuid[],
      ${attempts.map((attempt) => attempt.number)}::int[],
      ${attempts.map((attempt) => attempt.outcome)}::text[],
      ${attempts.map((attempt) => attempt.category)}::text[],
      ${attempts.map((attempt) => attempt.stage)}::text[],
      ${attempts.map((attempt) => attempt.target)}::text[],
      ${attempts.map((attempt) => attempt.address)}::text[],
      ${attempts.map((attempt) => attempt.tls)}::text[],
      ${attempts.map((attempt) => attempt.tls_policy)}::text[],
      ${attempts.map((attempt) => attempt.reply_code)}::int[],
      ${attempts.map((attempt) => attempt.reply_enhanced)}::text[],
      ${attempts.map((attempt) => attempt.reply_text)}::text[],
      ${attempts.map((attempt) => attempt.error)}::text[],
      ${attempts.map((attempt) => attempt.phases_ms)}::text[],
      ${attempts.map((attempt) => attempt.transcript)}::text[],
      ${attempts.map((attempt) => attempt.duration_ms)}::float8[],
      ${attempts.map((attempt) => attempt.transport_id)}::uuid[]
    ) as a (workspace_id, message_id, id, recipient_id, number, outcome, category, stage, target, address, tls, tls_policy, reply_code,
      reply_enhanced, reply_text, error, phases_ms, transcript, duration_ms, transport_id)
    ),
    told as (
      insert into transcripts (workspace_id, message_id, attempt_id, transcript)
      select workspace_id, message_id, id, transcript from tried where transcript is not null
    )
    insert into attempts (workspace_id, message_id, id, recipient_id, number, outcome, category, stage, target, address, tls, tls_policy, reply_code,
      reply_enhanced, reply_text, error, phases_ms, transport_id, started_at, finished_at)
    select workspace_id, message_id, id, recipient_id, number, outcome, category, stage, target, address, tls, tls_policy, reply_code,
      reply_enhanced, reply_text, error, phases_ms, transport_id, clock_now() - make_interval(secs => duration_ms / 1000.0), clock_now()
    from tried`;
}

/** The ID that a relay gave an email in its 250, by which its reports name it. */
export interface RelayReceipt {
  readonly transport_id: string;
  readonly relay_id: string;
  readonly message_id: string;
  readonly recipient_id: string;
}

export async function insertReceipts(sql: Sql | Tx, receipts: readonly RelayReceipt[]): Promise<void> {
  if (receipts.length === 0) return;
  const sorted = receipts.toSorted((left, right) => (left.relay_id < right.relay_id ? -1 : 1));
  await sql`
    insert into relay_receipts (transport_id, relay_id, message_id, recipient_id, created_at)
    select a.transport_id, a.relay_id, a.message_id, a.recipient_id, clock_now()
    from unnest(
      ${sorted.map(({ transport_id }) => transport_id)}::uuid[],
      ${sorted.map(({ relay_id }) => relay_id)}::text[],
      ${sorted.map(({ message_id }) => message_id)}::uuid[],
      ${sorted.map(({ recipient_id }) => recipient_id)}::uuid[]
    ) as a (transport_id, relay_id, message_id, recipient_id)
    on conflict do nothing`;
}

/** Deletes the record that the result of these attempts was unknown. */
export async function deleteLostAttempts(
  tx: Tx,
  attempts: readonly (RecipientKey & { readonly number: number })[],
): Promise<void> {
  await tx`
    delete from attempts t using unnest(
      ${attempts.map((attempt) => attempt.workspace_id)}::uuid[],
      ${attempts.map((attempt) => attempt.message_id)}::uuid[],
      ${attempts.map((attempt) => attempt.recipient_id)}::uuid[],
      ${attempts.map((attempt) => attempt.number)}::int[]
    ) as a (workspace_id, message_id, recipient_id, number)
    where t.message_id >= a.message_id and t.message_id <= a.message_id and t.workspace_id = a.workspace_id
      and t.recipient_id = a.recipient_id and t.number = a.number and t.outcome = 'unknown'`;
}

/** The results of a recipient's earlier attempts. */
export interface History {
  /** Attempts that ended after DATA without a reply. Lost workers are not counted: how far they got is unknown. */
  readonly unknown_count: number;
  /** Attempts lost together with their worker. */
  readonly lost_count: number;
  /** Attempts that found no server for the domain in DNS. */
  readonly missing_count: number;
  /** Whether the first attempt that found no server is older than the given limit. */
  readonly missing_long: boolean;
}

/** Returns the histories of recipients. Served by the primary key of attempts, which starts with the message. */
export async function historiesOf(
  sql: Sql,
  keys: readonly RecipientKey[],
  missing_ms: number,
): Promise<Map<string, History>> {
  const rows = await sql<(History & { recipient_id: string })[]>`
    select a.recipient_id, t.unknown_count, t.lost_count, t.missing_count, t.missing_long
    from unnest(
      ${keys.map((key) => key.workspace_id)}::uuid[],
      ${keys.map((key) => key.message_id)}::uuid[],
      ${keys.map((key) => key.recipient_id)}::uuid[]
    ) as a (workspace_id, message_id, recipient_id)
    cross join lateral (
      select count(*) filter (where x.outcome = 'unknown' and x.stage <> 'worker_lost')::int as unknown_count,
        count(*) filter (where x.stage = 'worker_lost')::int as lost_count,
        count(*) filter (where ${isMissing(sql)})::int as missing_count,
        coalesce(min(x.started_at) filter (where ${isMissing(sql)})
          <= clock_now() - make_interval(secs => ${missing_ms / 1000}), false) as missing_long
      from attempts x
      where x.message_id = a.message_id and x.workspace_id = a.workspace_id and x.recipient_id = a.recipient_id
    ) t`;
  return new Map(rows.map((row) => [row.recipient_id, row]));
}

/** Returns the condition of isMissingDomain in SQL. */
function isMissing(sql: Sql): Fragment {
  return sql`x.outcome = 'deferred' and x.stage = 'connect' and x.target = '' and x.reply_code is not null`;
}

/** Returns the columns of an attempt that come from its outcome. */
export function outcomeFields(outcome: SendOutcome) {
  return {
    outcome: outcome.kind,
    stage: outcome.stage,
    target: outcome.target,
    address: outcome.address,
    tls_policy: outcome.tls_policy,
    tls: outcome.tls && JSON.stringify(outcome.tls),
    reply_code: outcome.reply?.code ?? null,
    reply_enhanced: outcome.reply?.enhanced ?? null,
    reply_text: outcome.reply?.text ?? null,
    error: outcome.error,
    phases_ms: JSON.stringify(outcome.phases_ms),
    transcript: null,
    transport_id: null,
  };
}
