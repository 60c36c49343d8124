import { arrayLiteral, type Fragment, hexTexts, isoTimes, type Sql } from '@postrider/db';
import type { KeyMode } from '../api-keys/secret.ts';
import { type AuditDraft, auditInsertion } from '../audit/index.ts';
import type { DeliveryState } from '../delivery/index.ts';
import type { SendableFacts } from '../domains/require-sendable.ts';
import type { Jobs } from '../jobs.ts';
import { stillSuppressed } from '../suppressions/in-force-store.ts';
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
  readonly body_bytes: number;
  readonly api_key_id: string | null;
  readonly request_id: string;
  readonly resend_of: string | null;
  readonly created_at: Date;
  readonly scheduled_at: Date | null;
  /** How many mails of the monthly volume it uses, and how many there are; null is no limit. */
  readonly counted: number;
  readonly monthly_limit: number | null;
  readonly recipients: readonly NewRecipient[];
}

/** An idempotency key to take, with the answer to give again. */
export interface Claim {
  readonly workspace_id: string;
  readonly operation: string;
  readonly key: string;
  readonly fingerprint: Buffer;
  readonly answer: string;
}

/** What the judgement of a batch needs to know, by the names that it asks with. */
export interface AskedFacts {
  readonly workspace_ids: readonly string[];
  readonly domains: readonly { readonly workspace_id: string; readonly name: string }[];
  readonly emails: readonly { readonly workspace_id: string; readonly email: string }[];
}

export interface FoundFacts {
  readonly now: Date;
  /** The epoch of the accept in which these were read. */
  readonly epoch: number;
  /** By workspace: mails of this month, as they stand. */
  readonly used: Map<string, number>;
  /** By `workspace name`. */
  readonly domains: ReadonlyMap<string, SendableFacts>;
  /** As `workspace email`: those that are suppressed now. */
  readonly suppressed: ReadonlySet<string>;
}

/** One statement of four small lookups by primary key, for many messages. */
export async function readFacts(sql: Sql, asked: AskedFacts): Promise<FoundFacts> {
  const rows = await sql<
    {
      kind: string;
      workspace_id: string;
      name: string;
      status: SendableFacts['status'];
      sandbox: boolean;
      value: string;
    }[]
  >`
    select 'now' as kind, '' as workspace_id, value::text as name, '' as status, false as sandbox,
      (extract(epoch from clock_now()) * 1000)::text as value
    from accept_epoch
    union all
    select 'used', workspace_id, '', '', false, used::text from usage_months
    where workspace_id = any (${asked.workspace_ids}::text[])
      and month = date_trunc('month', clock_now() at time zone 'UTC')::date
    union all
    select 'domain', d.workspace_id, d.name, d.status, d.sandbox, ''
    from unnest(
      ${asked.domains.map((ask) => ask.workspace_id)}::text[],
      ${asked.domains.map((ask) => ask.name)}::text[]
    ) as a (workspace_id, name)
    cross join lateral (
      select * from domains x where x.workspace_id = a.workspace_id and x.name = a.name offset 0
    ) d
    union all
    select 'suppressed', a.workspace_id, a.email, '', false, ''
    from unnest(
      ${asked.emails.map((ask) => ask.workspace_id)}::text[],
      ${asked.emails.map((ask) => ask.email)}::text[]
    ) as a (workspace_id, email)
    cross join lateral (
      select * from suppressions x
      where x.workspace_id = a.workspace_id and x.email = suppression_key(a.email) offset 0
    ) s
    where ${stillSuppressed(sql)}`;
  let now = 0;
  let epoch = 0;
  const used = new Map<string, number>();
  const domains = new Map<string, SendableFacts>();
  const suppressed = new Set<string>();
  for (const row of rows) {
    if (row.kind === 'now') {
      now = Number(row.value);
      epoch = Number(row.name);
    } else if (row.kind === 'used') used.set(row.workspace_id, Number(row.value));
    else if (row.kind === 'domain') domains.set(`${row.workspace_id} ${row.name}`, row);
    else suppressed.add(`${row.workspace_id} ${row.name}`);
  }
  return { now: new Date(now), epoch, used, domains, suppressed };
}

/** Earlier answers under idempotency keys, by `workspace operation key`. */
export async function loadAnswers(
  sql: Sql,
  asked: readonly Pick<Claim, 'workspace_id' | 'operation' | 'key'>[],
): Promise<Map<string, Pick<Claim, 'fingerprint' | 'answer'>>> {
  if (asked.length === 0) return new Map();
  const rows = await sql<Claim[]>`
    select i.workspace_id, i.operation, i.key, i.fingerprint, i.answer
    from unnest(
      ${asked.map((ask) => ask.workspace_id)}::text[],
      ${asked.map((ask) => ask.operation)}::text[],
      ${asked.map((ask) => ask.key)}::text[]
    ) as a (workspace_id, operation, key)
    cross join lateral (
      select * from idempotency_keys x
      where x.workspace_id = a.workspace_id and x.operation = a.operation and x.key = a.key offset 0
    ) i
    where i.expires_at > clock_now()`;
  return new Map(rows.map((row) => [claimName(row), row]));
}

export function claimName(claim: Pick<Claim, 'workspace_id' | 'operation' | 'key'>): string {
  return `${claim.workspace_id} ${claim.operation} ${claim.key}`;
}

/** A message to store; claim is the place of its idempotency key among the claims, from 1, or null. */
export interface Storing {
  readonly message: NewMessage;
  readonly claim: number | null;
  readonly audit: readonly AuditDraft[];
}

/**
 * Stores what passed, in one statement that is a transaction by itself: idempotency keys, usage, messages,
 * bodies, recipients, tags, events and jobs, or nothing of them. Returns the places of the claims that were
 * won. A twin of another process that is committing the same key holds its row: this waits for it, and then
 * the claim is lost and its messages are left out. Rows that two batches may both want are taken in the same
 * order, claims before usage and each sorted, so that no two can deadlock.
 */
export async function storeAccepted(
  sql: Sql,
  jobs: Jobs,
  claims: readonly Claim[],
  storing: readonly Storing[],
): Promise<ReadonlySet<number>> {
  const people = storing.flatMap(({ message, claim }) =>
    message.recipients.map((recipient) => ({ message, recipient, claim })),
  );
  const tags = storing.flatMap(({ message, claim }) => message.tags.map((tag) => ({ message, tag, claim })));
  const born = storing.map(({ message, claim }) => ({ claim, events: firstEvents(message) }));
  const events = born.flatMap(({ claim, events }) => events.map((event) => ({ ...event, claim })));
  const messages = storing.map(({ message }) => message);
  const audited = storing.flatMap(({ claim, audit }) => audit.map((draft) => ({ claim, draft })));
  const [row] = await sql<{ won: number[] }[]>`
    with claims as materialized (
      select * from unnest(
        ${claims.map((claim) => claim.workspace_id)}::text[],
        ${claims.map((claim) => claim.operation)}::text[],
        ${claims.map((claim) => claim.key)}::text[],
        ${hexTexts(claims.map((claim) => claim.fingerprint))}::text[],
        ${claims.map((claim) => claim.answer)}::text[]
      ) with ordinality as a (workspace_id, operation, key, fingerprint, answer, place)
    ),
    taken as (
      insert into idempotency_keys as i (workspace_id, operation, key, fingerprint, answer, expires_at)
      select workspace_id, operation, key, decode(fingerprint, 'hex'), answer, clock_now() + interval '24 hours'
      from claims order by workspace_id, operation, key
      on conflict (workspace_id, operation, key) do update
        set fingerprint = excluded.fingerprint, answer = excluded.answer, expires_at = excluded.expires_at
        where i.expires_at <= clock_now()
      returning workspace_id, operation, key
    ),
    won as materialized (
      select c.place::int from claims c
      join taken t on t.workspace_id = c.workspace_id and t.operation = c.operation and t.key = c.key
    ),
    batch as materialized (
      select * from unnest(
        ${storing.map(({ claim }) => claim)}::int[],
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
        ${messages.map((message) => message.body_bytes)}::int[],
        ${messages.map((message) => message.api_key_id)}::text[],
        ${messages.map((message) => message.request_id)}::text[],
        ${messages.map((message) => message.resend_of)}::text[],
        ${isoTimes(messages.map((message) => message.created_at))}::timestamptz[],
        ${isoTimes(messages.map((message) => message.scheduled_at))}::timestamptz[],
        ${born.map(({ events }) => events.length)}::int[],
        ${born.map(({ events }) => events.at(-1)?.type ?? '')}::text[],
        ${messages.map((message) => message.html)}::text[],
        ${messages.map((message) => message.text)}::text[],
        ${messages.map((message) => message.headers)}::text[],
        ${messages.map((message) => message.attachments)}::text[],
        ${messages.map((message) => message.counted)}::bigint[],
        ${messages.map((message) => message.monthly_limit)}::bigint[]
      ) as a (claim, workspace_id, id, status, mode, from_address, from_email, from_domain, to_addresses,
        cc_addresses, bcc_addresses, reply_to, subject, tags, metadata, recipient_count, body_bytes, api_key_id, request_id,
        resend_of, created_at, scheduled_at, event_count, last_event_type, html, text, headers, attachments,
        counted, monthly_limit)
      where a.claim is null or a.claim in (select place from won)
    ),
    spending as materialized (
      select workspace_id, sum(counted)::bigint as count, max(monthly_limit) as monthly_limit
      from batch group by workspace_id having sum(counted) > 0
    ),
    spent as (
      insert into usage_months as u (workspace_id, month, used, monthly_limit, by_day)
      select workspace_id, date_trunc('month', clock_now() at time zone 'UTC')::date, count, monthly_limit,
        array_fill(0::bigint, array[extract(day from clock_now() at time zone 'UTC')::int - 1]) || count
          || array_fill(0::bigint, array[31 - extract(day from clock_now() at time zone 'UTC')::int])
      from spending order by workspace_id
      on conflict (workspace_id, month) do update set
        used = u.used + excluded.used,
        monthly_limit = excluded.monthly_limit,
        by_day[extract(day from clock_now() at time zone 'UTC')::int] =
          u.by_day[extract(day from clock_now() at time zone 'UTC')::int] + excluded.used
        where coalesce(u.used + excluded.used
          <= (select s.monthly_limit from spending s where s.workspace_id = u.workspace_id), true)
      returning workspace_id
    ),
    m as (
      insert into messages (workspace_id, id, status, mode, from_address, from_email, from_domain, to_addresses,
        cc_addresses, bcc_addresses, reply_to, subject, tags, metadata, recipient_count, body_bytes, api_key_id, request_id,
        resend_of, created_at, scheduled_at, event_count, last_event_type, last_event_at)
      select workspace_id, id, status, mode, from_address, from_email, from_domain, to_addresses::text[],
        cc_addresses::text[], bcc_addresses::text[], reply_to, subject, tags::text[], metadata, recipient_count,
        body_bytes, api_key_id, request_id, resend_of, created_at, scheduled_at, event_count, last_event_type, created_at
      from batch
      where case when (select count(*) from spending) = (select count(*) from spent) then true
        else raise_quota_race() end
    ),
    b as (
      insert into bodies (workspace_id, message_id, html, text, headers, attachments)
      select workspace_id, id, html, text, headers, attachments from batch
    ),
    people as materialized (
      select * from unnest(
        ${people.map(({ claim }) => claim)}::int[],
        ${people.map(({ message }) => message.workspace_id)}::text[],
        ${people.map(({ message }) => message.id)}::text[],
        ${people.map(({ recipient }) => recipient.id)}::text[],
        ${people.map(({ recipient }) => recipient.email)}::text[],
        ${people.map(({ recipient }) => recipient.domain)}::text[],
        ${people.map(({ recipient }) => recipient.kind)}::text[]::recipient_kind[],
        ${people.map(({ recipient }) => recipient.state)}::text[]::delivery_state[],
        ${isoTimes(people.map(({ message }) => message.scheduled_at ?? message.created_at))}::timestamptz[],
        ${people.map(({ recipient }) => recipient.job_id)}::uuid[],
        ${isoTimes(people.map(({ message }) => message.scheduled_at))}::timestamptz[]
      ) as a (claim, workspace_id, message_id, id, email, domain, kind, state, due_at, job_id, start_after)
      where a.claim is null or a.claim in (select place from won)
    ),
    r as (
      insert into recipients (workspace_id, message_id, id, email, domain, kind, state, due_at, job_id)
      select workspace_id, message_id, id, email, domain, kind, state, due_at, job_id from people
    ),
    t as (
      insert into message_tags (workspace_id, tag, message_id)
      select workspace_id, tag, message_id from unnest(
        ${tags.map(({ claim }) => claim)}::int[],
        ${tags.map(({ message }) => message.workspace_id)}::text[],
        ${tags.map(({ tag }) => tag)}::text[],
        ${tags.map(({ message }) => message.id)}::text[]
      ) as a (claim, workspace_id, tag, message_id)
      where a.claim is null or a.claim in (select place from won)
    ),
    e as (
      insert into events (workspace_id, id, type, message_id, recipient_id, sequence, facts, created_at)
      select workspace_id, id, type, message_id, recipient_id, sequence, '{}', created_at from unnest(
        ${events.map((event) => event.claim)}::int[],
        ${events.map((event) => event.workspace_id)}::text[],
        ${events.map((event) => event.id)}::text[],
        ${events.map((event) => event.type)}::text[],
        ${events.map((event) => event.message_id)}::text[],
        ${events.map((event) => event.recipient_id)}::text[],
        ${events.map((event) => event.sequence)}::int[],
        ${isoTimes(events.map((event) => event.created_at))}::timestamptz[]
      ) as a (claim, workspace_id, id, type, message_id, recipient_id, sequence, created_at)
      where a.claim is null or a.claim in (select place from won)
    ),
    j as (
      ${jobs.insertion(
        sql,
        'delivery.attempt',
        sql`select job_id as id, start_after, jsonb_build_object('workspace_id', workspace_id,
          'message_id', message_id, 'recipient_id', id) as data from people where job_id is not null`,
      )}
    )${audited.length === 0 ? sql`` : auditing(sql, audited)}
    select coalesce((select array_agg(place) from won), '{}') as won`;
  return new Set(row?.won);
}

/** The part of the statement that only a resend needs. A chain is taken after the counters of the month, as everywhere. */
function auditing(
  sql: Sql,
  audited: readonly { readonly claim: number | null; readonly draft: AuditDraft }[],
): Fragment {
  const claims = audited.map(({ claim }) => claim);
  const counted_first = sql`(select count(*) from spent) >= 0`;
  return sql`,
    audited as (
      ${auditInsertion(
        sql,
        audited.map(({ draft }) => draft),
        sql`${counted_first} and exists (
          select from unnest(${claims}::int[]) with ordinality as c (claim, place)
          where c.place = a.place and (c.claim is null or c.claim in (select place from won))
        )`,
      )}
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
  return suppressed.length === 0
    ? [first]
    : [first, ...suppressed.map((event, index) => ({ ...event, sequence: index + 2 }))];
}
