import { type Fragment, fence, hexTexts, isoTimes, type Sql } from '@postrider/db';
import { type AuditDraft, auditInsertion } from '../audit/index.ts';
import type { SendableFacts } from '../domains/index.ts';
import { jobPriorities } from '../priorities/index.ts';
import type { Jobs } from '../process/jobs.ts';
import { stillSuppressed } from '../suppressions/index.ts';
import { arraysOf, bodyColumns, fragmentsOf, messageColumns, recipientColumns, tagRows } from './columns-store.ts';
import type { NewMessage } from './new-message.ts';

/** An idempotency key to claim, with the response to replay. */
export interface KeyClaim {
  readonly workspace_id: string;
  readonly operation: string;
  readonly key: string;
  readonly fingerprint: Buffer;
  readonly answer: string;
}

/** The keys used to look up the facts of a batch. */
export interface FactsQuery {
  readonly workspace_ids: readonly string[];
  readonly domains: readonly { readonly workspace_id: string; readonly name: string }[];
  readonly emails: readonly { readonly workspace_id: string; readonly email: string }[];
}

export interface FoundFacts {
  readonly now: Date;
  /** The accept epoch in which these facts were read. */
  readonly epoch: number;
  /** Emails so far this month, by workspace. */
  readonly used: Map<string, number>;
  /** Keyed by `workspace name`. */
  readonly domains: ReadonlyMap<string, SendableFacts>;
  /** Suppressed addresses, as `workspace email`. */
  readonly suppressed: ReadonlySet<string>;
}

/** Resolves once a standby has everything committed so far, or immediately if commits do not wait for one. */
export async function awaitStandby(sql: Sql): Promise<void> {
  await sql`
    select pg_logical_emit_message(true, 'postrider', '')
    where current_setting('synchronous_standby_names') <> ''`;
}

/** Reads the facts for many messages with four primary-key lookups in one statement. */
export async function readFacts(sql: Sql, keys: FactsQuery): Promise<FoundFacts> {
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
    select 'now' as kind, no_id() as workspace_id, value::text as name, '' as status, false as sandbox,
      (extract(epoch from clock_now()) * 1000)::text as value
    from accept_epoch
    union all
    select 'used', workspace_id, '', '', false, used::text from usage_months
    where workspace_id = any (${keys.workspace_ids}::uuid[])
      and month = date_trunc('month', clock_now() at time zone 'UTC')::date
    union all
    select 'domain', d.workspace_id, d.name, d.status, d.sandbox, ''
    from unnest(
      ${keys.domains.map((ask) => ask.workspace_id)}::uuid[],
      ${keys.domains.map((ask) => ask.name)}::text[]
    ) as a (workspace_id, name)
    cross join lateral (
      select * from domains x where x.workspace_id = a.workspace_id and x.name = a.name ${fence}
    ) d
    union all
    select 'suppressed', a.workspace_id, a.email, '', false, ''
    from unnest(
      ${keys.emails.map((ask) => ask.workspace_id)}::uuid[],
      ${keys.emails.map((ask) => ask.email)}::text[]
    ) as a (workspace_id, email)
    cross join lateral (
      select * from suppressions x
      where x.workspace_id = a.workspace_id and x.email = suppression_key(a.email) ${fence}
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

/** Returns stored responses for idempotency keys, by `workspace operation key`. */
export async function loadAnswers(
  sql: Sql,
  claims: readonly Pick<KeyClaim, 'workspace_id' | 'operation' | 'key'>[],
): Promise<Map<string, Pick<KeyClaim, 'fingerprint' | 'answer'>>> {
  if (claims.length === 0) return new Map();
  const rows = await sql<KeyClaim[]>`
    select i.workspace_id, i.operation, i.key, i.fingerprint, i.answer
    from unnest(
      ${claims.map((ask) => ask.workspace_id)}::uuid[],
      ${claims.map((ask) => ask.operation)}::text[],
      ${claims.map((ask) => ask.key)}::text[]
    ) as a (workspace_id, operation, key)
    cross join lateral (
      select * from idempotency_keys x
      where x.workspace_id = a.workspace_id and x.operation = a.operation and x.key = a.key ${fence}
    ) i
    where i.expires_at > clock_now()`;
  return new Map(rows.map((row) => [claimName(row), row]));
}

export function claimName(claim: Pick<KeyClaim, 'workspace_id' | 'operation' | 'key'>): string {
  return `${claim.workspace_id} ${claim.operation} ${claim.key}`;
}

/** A message to store; claim is the 1-based position of its idempotency key among the claims, or null. */
export interface Storing {
  readonly message: NewMessage;
  readonly claim: number | null;
  readonly audit: readonly AuditDraft[];
}

/** The first events of a message, with its claim. */
interface MessageEvents {
  readonly claim: number | null;
  readonly events: ReturnType<typeof firstEvents>;
}

/**
 * Stores accepted messages with everything that belongs to them in one statement, which is its own transaction. Returns
 * the positions of the claims that were won. A concurrent duplicate in another process locks the row of its key: this
 * statement waits for it, then loses the claim and skips its messages. Rows that two batches may share are locked in a
 * fixed order, claims before usage and each group sorted, so that batches cannot deadlock.
 */
export async function storeAccepted(
  sql: Sql,
  jobs: Jobs,
  claims: readonly KeyClaim[],
  storing: readonly Storing[],
): Promise<ReadonlySet<number>> {
  const message = fragmentsOf(sql, messageColumns);
  const body = fragmentsOf(sql, bodyColumns);
  const recipient = fragmentsOf(sql, recipientColumns);
  const messageEvents = storing.map(({ message, claim }) => ({ claim, events: firstEvents(message) }));
  const audited = storing.flatMap(({ claim, audit }) => audit.map((draft) => ({ claim, draft })));
  const [row] = await sql<{ won: number[] }[]>`
    with ${claiming(sql, claims)},
    batch as materialized (
      ${batchRows(sql, storing, messageEvents)}
    ),
    ${spending(sql)},
    m as (
      insert into messages (${message.names}, status, created_at, scheduled_at, event_count, last_event_type,
        last_event_at)
      select ${message.values}, status, created_at, scheduled_at, event_count, last_event_type, created_at
      from batch
      where case when (select count(*) from spending) = (select count(*) from spent) then true
        else raise_quota_race() end
    ),
    b as (
      insert into bodies (workspace_id, message_id, ${body.names})
      select workspace_id, id, ${body.values} from batch
    ),
    people as materialized (
      ${recipientRows(sql, storing)}
    ),
    r as (
      insert into recipients (workspace_id, message_id, ${recipient.names}, state, due_at)
      select workspace_id, message_id, ${recipient.values}, state, due_at from people
    ),
    t as (
      insert into message_tags (tag_id, message_id)
      ${storedTags(sql, storing)}
    ),
    e as (
      insert into events (workspace_id, id, type, message_id, recipient_id, sequence, facts, created_at)
      ${eventRows(sql, messageEvents)}
    ),
    j as (
      ${jobs.insertion(
        sql,
        'delivery.attempt',
        sql`select job_id as id, start_after, job_priority as priority, jsonb_build_object('workspace_id', workspace_id,
          'message_id', message_id, 'recipient_id', id) as data from people where job_id is not null`,
      )}
    )${audited.length === 0 ? sql`` : auditing(sql, audited)}
    select coalesce((select array_agg(place) from won), '{}') as won`;
  return new Set(row?.won);
}

/** Claims the idempotency keys; `won` contains the positions of those that were free or had expired. */
function claiming(sql: Sql, claims: readonly KeyClaim[]): Fragment {
  return sql`claims as materialized (
      select * from unnest(
        ${claims.map((claim) => claim.workspace_id)}::uuid[],
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
    )`;
}

/** Returns the messages with their bodies, except those whose claim was lost. */
function batchRows(sql: Sql, storing: readonly Storing[], messageEvents: readonly MessageEvents[]): Fragment {
  const messages = storing.map(({ message }) => message);
  return sql`select * from unnest(
        ${storing.map(({ claim }) => claim)}::int[]
        ${arraysOf(sql, messageColumns, messages)}
        ${arraysOf(sql, bodyColumns, messages)},
        ${messages.map((message) => message.status)}::text[]::delivery_state[],
        ${isoTimes(messages.map((message) => message.created_at))}::timestamptz[],
        ${isoTimes(messages.map((message) => message.scheduled_at))}::timestamptz[],
        ${messageEvents.map(({ events }) => events.length)}::int[],
        ${messageEvents.map(({ events }) => events.at(-1)?.type ?? '')}::text[],
        ${messages.map((message) => message.counted)}::bigint[],
        ${messages.map((message) => message.monthly_limit)}::bigint[]
      ) as a (claim, ${fragmentsOf(sql, messageColumns).names}, ${fragmentsOf(sql, bodyColumns).names},
        status, created_at, scheduled_at, event_count, last_event_type, counted, monthly_limit)
      where a.claim is null or a.claim in (select place from won)`;
}

/** Counts the batch toward the month; `spent` omits the workspaces that would exceed their limit. */
function spending(sql: Sql): Fragment {
  return sql`spending as materialized (
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
    )`;
}

function recipientRows(sql: Sql, storing: readonly Storing[]): Fragment {
  const rows = storing.flatMap(({ message, claim }) =>
    message.recipients.map((recipient) => ({ message, recipient, claim })),
  );
  const recipients = rows.map(({ recipient }) => recipient);
  return sql`select * from unnest(
        ${rows.map(({ claim }) => claim)}::int[],
        ${rows.map(({ message }) => message.workspace_id)}::uuid[],
        ${rows.map(({ message }) => message.id)}::uuid[]
        ${arraysOf(sql, recipientColumns, recipients)},
        ${recipients.map(({ state }) => state)}::text[]::delivery_state[],
        ${isoTimes(rows.map(({ message }) => message.scheduled_at ?? message.created_at))}::timestamptz[],
        ${isoTimes(rows.map(({ message }) => message.scheduled_at))}::timestamptz[],
        ${rows.map(({ message }) => jobPriorities[message.priority])}::int[]
      ) as a (claim, workspace_id, message_id, ${fragmentsOf(sql, recipientColumns).names}, state, due_at, start_after,
        job_priority)
      where a.claim is null or a.claim in (select place from won)`;
}

function storedTags(sql: Sql, storing: readonly Storing[]): Fragment {
  const tags = storing.flatMap(({ message, claim }) => message.tags.map((tag) => ({ message, tag, claim })));
  return tagRows(
    sql,
    sql`
      select workspace_id, tag, message_id from unnest(
        ${tags.map(({ claim }) => claim)}::int[],
        ${tags.map(({ message }) => message.workspace_id)}::uuid[],
        ${tags.map(({ tag }) => tag)}::text[],
        ${tags.map(({ message }) => message.id)}::uuid[]
      ) as a (claim, workspace_id, tag, message_id)
      where a.claim is null or a.claim in (select place from won)`,
  );
}

function eventRows(sql: Sql, messageEvents: readonly MessageEvents[]): Fragment {
  const events = messageEvents.flatMap(({ claim, events }) => events.map((event) => ({ ...event, claim })));
  return sql`select workspace_id, id, type, message_id, recipient_id, sequence, '{}', created_at from unnest(
        ${events.map((event) => event.claim)}::int[],
        ${events.map((event) => event.workspace_id)}::uuid[],
        ${events.map((event) => event.id)}::uuid[],
        ${events.map((event) => event.type)}::text[],
        ${events.map((event) => event.message_id)}::uuid[],
        ${events.map((event) => event.recipient_id)}::uuid[],
        ${events.map((event) => event.sequence)}::int[],
        ${isoTimes(events.map((event) => event.created_at))}::timestamptz[]
      ) as a (claim, workspace_id, id, type, message_id, recipient_id, sequence, created_at)
      where a.claim is null or a.claim in (select place from won)`;
}

/** Builds the audit rows of a resend. As everywhere, the audit chain is locked after the monthly counters. */
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

/** Returns the first events of a message: queued or scheduled, then one for each suppressed recipient. */
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
