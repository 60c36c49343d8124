import { arrayLiteral, hexTexts, isoTimes, type Tx } from '@postrider/db';
import type { KeyMode } from '../api-keys/secret.ts';
import type { DeliveryState } from '../delivery/index.ts';
import type { SendableFacts } from '../domains/require-sendable.ts';
import type { Admitted } from './accept-line.ts';
import type { Addressee } from './addressees.ts';

export interface NewRecipient extends Addressee {
  readonly id: string;
  readonly state: DeliveryState;
  readonly job_id: string | null;
  /** Of the event that a suppressed recipient leaves. */
  readonly event_id: string | null;
}

export interface NewMessage {
  readonly workspace_id: string;
  readonly id: string;
  readonly event_id: string;
  readonly status: DeliveryState;
  readonly mode: KeyMode;
  readonly from_address: string;
  readonly from_email: string;
  readonly from_domain: string;
  readonly to_addresses: readonly string[];
  readonly cc_addresses: readonly string[];
  readonly bcc_addresses: readonly string[];
  readonly reply_to: string | null;
  readonly subject: string;
  readonly tags: readonly string[];
  readonly metadata: string;
  readonly html: string | null;
  readonly text: string | null;
  readonly headers: string;
  readonly attachments: string;
  readonly api_key_id: string | null;
  readonly request_id: string;
  readonly resend_of: string | null;
  readonly created_at: Date;
  readonly scheduled_at: Date | null;
  /** How many mails of the monthly volume it uses. */
  readonly counted: number;
  readonly recipients: readonly NewRecipient[];
}

/** Domains by workspace and name, keyed `workspace name`. Served by the primary key. */
export async function loadDomains(
  tx: Tx,
  asked: readonly { workspace_id: string; name: string }[],
): Promise<Map<string, SendableFacts>> {
  const rows = await tx<(SendableFacts & { workspace_id: string; name: string })[]>`
    select distinct d.workspace_id, d.name, d.status, d.sandbox
    from unnest(${asked.map((ask) => ask.workspace_id)}::text[], ${asked.map((ask) => ask.name)}::text[]) as a (workspace_id, name)
    join domains d on d.workspace_id = a.workspace_id and d.name = a.name`;
  return new Map(rows.map((row) => [`${row.workspace_id} ${row.name}`, row]));
}

/** Which of these addresses are suppressed now, as `workspace email`. Served by the primary key. */
export async function loadSuppressions(
  tx: Tx,
  asked: readonly { workspace_id: string; email: string }[],
): Promise<Set<string>> {
  const rows = await tx<{ workspace_id: string; email: string }[]>`
    select s.workspace_id, s.email
    from unnest(${asked.map((ask) => ask.workspace_id)}::text[], ${asked.map((ask) => ask.email)}::text[]) as a (workspace_id, email)
    join suppressions s on s.workspace_id = a.workspace_id and s.email = a.email
    where s.expires_at is null or s.expires_at > clock_now()`;
  return new Set(rows.map((row) => `${row.workspace_id} ${row.email}`));
}

/** Locks the month's counter of workspaces with a limit, in id order, and reads it. */
export async function lockUsage(tx: Tx, workspace_ids: readonly string[]): Promise<Map<string, number>> {
  const rows = await tx<{ workspace_id: string; used: number }[]>`
    insert into usage_months as u (workspace_id, month, used)
    select workspace_id, date_trunc('month', clock_now(), 'UTC')::date, 0
    from unnest(${workspace_ids}::text[]) as a (workspace_id)
    on conflict (workspace_id, month) do update set used = u.used
    returning workspace_id, used`;
  return new Map(rows.map((row) => [row.workspace_id, row.used]));
}

/** Adds what was accepted to the month and the day of each workspace. Last, so that a hot row is held only for the commit. */
export async function addUsage(tx: Tx, messages: readonly NewMessage[]): Promise<void> {
  const counts = new Map<string, number>();
  for (const { workspace_id, counted } of messages) {
    if (counted > 0) counts.set(workspace_id, (counts.get(workspace_id) ?? 0) + counted);
  }
  const sorted = [...counts].sort(([left], [right]) => (left < right ? -1 : 1));
  if (sorted.length === 0) return;
  await tx`
    with added as (
      select * from unnest(${sorted.map(([id]) => id)}::text[], ${sorted.map(([, count]) => count)}::bigint[]) as a (workspace_id, count)
    ),
    months as (
      insert into usage_months as u (workspace_id, month, used)
      select workspace_id, date_trunc('month', clock_now(), 'UTC')::date, count from added
      on conflict (workspace_id, month) do update set used = u.used + excluded.used
    )
    insert into usage_days as u (workspace_id, day, used)
    select workspace_id, (clock_now() at time zone 'UTC')::date, count from added
    on conflict (workspace_id, day) do update set used = u.used + excluded.used`;
}

/** Earlier answers under the same idempotency keys, in the order of the submissions. */
export async function answeredBefore(
  tx: Tx,
  submissions: readonly Admitted[],
): Promise<({ fingerprint: Buffer; answer: string } | undefined)[]> {
  const keyed = submissions.map(({ sender, idempotency }) => ({ workspace_id: sender.workspace_id, idempotency }));
  if (keyed.every(({ idempotency }) => idempotency === null)) return [];
  const rows = await tx<{ ord: number; fingerprint: Buffer; answer: string }[]>`
    select a.ord::int, i.fingerprint, i.answer
    from unnest(
      ${keyed.map(({ workspace_id }) => workspace_id)}::text[],
      ${keyed.map(({ idempotency }) => idempotency?.operation ?? null)}::text[],
      ${keyed.map(({ idempotency }) => idempotency?.key ?? null)}::text[]
    ) with ordinality as a (workspace_id, operation, key, ord)
    join idempotency_keys i on i.workspace_id = a.workspace_id and i.operation = a.operation and i.key = a.key
    where i.expires_at > clock_now()`;
  const answers: ({ fingerprint: Buffer; answer: string } | undefined)[] = [];
  for (const row of rows) answers[row.ord - 1] = row;
  return answers;
}

/**
 * Takes idempotency keys, as `workspace operation key`. A twin of another process that is committing holds
 * the row: this waits for it, and then finds the key taken. Sorted, so that two batches cannot deadlock.
 */
export async function claimIdempotencyKeys(
  tx: Tx,
  claims: readonly { workspace_id: string; operation: string; key: string; fingerprint: Buffer; answer: string }[],
): Promise<Set<string>> {
  const rows = await tx<{ workspace_id: string; operation: string; key: string }[]>`
    insert into idempotency_keys as i (workspace_id, operation, key, fingerprint, answer, expires_at)
    select workspace_id, operation, key, decode(fingerprint, 'hex'), answer, clock_now() + interval '24 hours'
    from unnest(
      ${claims.map((claim) => claim.workspace_id)}::text[],
      ${claims.map((claim) => claim.operation)}::text[],
      ${claims.map((claim) => claim.key)}::text[],
      ${hexTexts(claims.map((claim) => claim.fingerprint))}::text[],
      ${claims.map((claim) => claim.answer)}::text[]
    ) as a (workspace_id, operation, key, fingerprint, answer)
    order by workspace_id, operation, key
    on conflict (workspace_id, operation, key) do update
      set fingerprint = excluded.fingerprint, answer = excluded.answer, expires_at = excluded.expires_at
      where i.expires_at <= clock_now()
    returning workspace_id, operation, key`;
  return new Set(rows.map((row) => `${row.workspace_id} ${row.operation} ${row.key}`));
}

/** Stores messages with bodies, recipients, tags and first events: one statement, arrays of columns. */
export async function insertMessages(tx: Tx, messages: readonly NewMessage[]): Promise<void> {
  const recipients = messages.flatMap((message) => message.recipients.map((recipient) => ({ message, recipient })));
  const tags = messages.flatMap((message) => message.tags.map((tag) => ({ message, tag })));
  const events = messages.flatMap((message) => firstEvents(message));
  await tx`
    with m as (
      insert into messages (workspace_id, id, status, mode, from_address, from_email, from_domain, to_addresses,
        cc_addresses, bcc_addresses, reply_to, subject, tags, metadata, recipient_count, api_key_id, request_id,
        resend_of, created_at, scheduled_at, event_count, last_event_type, last_event_at)
      select workspace_id, id, status, mode, from_address, from_email, from_domain, to_addresses::text[],
        cc_addresses::text[], bcc_addresses::text[], reply_to, subject, tags::text[], metadata, recipient_count,
        api_key_id, request_id, resend_of, created_at, scheduled_at, event_count, last_event_type, created_at
      from unnest(
        ${messages.map((message) => message.workspace_id)}::text[],
        ${messages.map((message) => message.id)}::text[],
        ${messages.map((message) => message.status)}::text[]::delivery_state[],
        ${messages.map((message) => message.mode)}::text[],
        ${messages.map((message) => message.from_address)}::text[],
        ${messages.map((message) => message.from_email)}::text[],
        ${messages.map((message) => message.from_domain)}::text[],
        ${messages.map((message) => arrayLiteral(message.to_addresses))}::text[],
        ${messages.map((message) => arrayLiteral(message.cc_addresses))}::text[],
        ${messages.map((message) => arrayLiteral(message.bcc_addresses))}::text[],
        ${messages.map((message) => message.reply_to)}::text[],
        ${messages.map((message) => message.subject)}::text[],
        ${messages.map((message) => arrayLiteral(message.tags))}::text[],
        ${messages.map((message) => message.metadata)}::text[],
        ${messages.map((message) => message.recipients.length)}::int[],
        ${messages.map((message) => message.api_key_id)}::text[],
        ${messages.map((message) => message.request_id)}::text[],
        ${messages.map((message) => message.resend_of)}::text[],
        ${isoTimes(messages.map((message) => message.created_at))}::timestamptz[],
        ${isoTimes(messages.map((message) => message.scheduled_at))}::timestamptz[],
        ${messages.map((message) => firstEvents(message).length)}::int[],
        ${messages.map((message) => firstEvents(message).at(-1)?.type ?? '')}::text[]
      ) as a (workspace_id, id, status, mode, from_address, from_email, from_domain, to_addresses, cc_addresses,
        bcc_addresses, reply_to, subject, tags, metadata, recipient_count, api_key_id, request_id, resend_of,
        created_at, scheduled_at, event_count, last_event_type)
    ),
    b as (
      insert into bodies (workspace_id, message_id, html, text, headers, attachments)
      select * from unnest(
        ${messages.map((message) => message.workspace_id)}::text[],
        ${messages.map((message) => message.id)}::text[],
        ${messages.map((message) => message.html)}::text[],
        ${messages.map((message) => message.text)}::text[],
        ${messages.map((message) => message.headers)}::text[],
        ${messages.map((message) => message.attachments)}::text[]
      )
    ),
    r as (
      insert into recipients (workspace_id, message_id, id, email, domain, kind, state, due_at, job_id)
      select * from unnest(
        ${recipients.map(({ message }) => message.workspace_id)}::text[],
        ${recipients.map(({ message }) => message.id)}::text[],
        ${recipients.map(({ recipient }) => recipient.id)}::text[],
        ${recipients.map(({ recipient }) => recipient.email)}::text[],
        ${recipients.map(({ recipient }) => recipient.domain)}::text[],
        ${recipients.map(({ recipient }) => recipient.kind)}::text[]::recipient_kind[],
        ${recipients.map(({ recipient }) => recipient.state)}::text[]::delivery_state[],
        ${isoTimes(recipients.map(({ message }) => message.scheduled_at ?? message.created_at))}::timestamptz[],
        ${recipients.map(({ recipient }) => recipient.job_id)}::uuid[]
      )
    ),
    t as (
      insert into message_tags (workspace_id, tag, message_id)
      select * from unnest(
        ${tags.map(({ message }) => message.workspace_id)}::text[],
        ${tags.map(({ tag }) => tag)}::text[],
        ${tags.map(({ message }) => message.id)}::text[]
      )
    )
    insert into events (workspace_id, id, type, message_id, recipient_id, sequence, facts, created_at)
    select * from unnest(
      ${events.map((event) => event.workspace_id)}::text[],
      ${events.map((event) => event.id)}::text[],
      ${events.map((event) => event.type)}::text[],
      ${events.map((event) => event.message_id)}::text[],
      ${events.map((event) => event.recipient_id)}::text[],
      ${events.map((event) => event.sequence)}::int[],
      ${events.map(() => '{}')}::text[],
      ${isoTimes(events.map((event) => event.created_at))}::timestamptz[]
    )`;
}

/** The events that a message is born with: queued or scheduled, then one for each suppressed recipient. */
function firstEvents(message: NewMessage) {
  const shared = { workspace_id: message.workspace_id, message_id: message.id, created_at: message.created_at };
  const first = { ...shared, id: message.event_id, type: `email.${message.status}`, recipient_id: null, sequence: 1 };
  const suppressed = message.recipients.flatMap((recipient) =>
    recipient.event_id === null
      ? []
      : [{ ...shared, id: recipient.event_id, type: 'email.suppressed', recipient_id: recipient.id }],
  );
  return [first, ...suppressed.map((event, index) => ({ ...event, sequence: index + 2 }))];
}
