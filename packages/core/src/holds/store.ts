import type { Sql, Tx } from '@postrider/db';
import { scheduledQueues } from './held-queues.ts';
import type { HoldScope } from './hold-entry.ts';

/** Rung in the commit that begins or ends a hold; whoever misses it looks within a second. */
export const HOLDS_CHANNEL = 'postrider_holds';

export interface HoldRow {
  readonly id: string;
  readonly scope: HoldScope;
  readonly value: string;
  /** Empty for what belongs to the instance. */
  readonly workspace_id: string;
  readonly reason: string;
  readonly created_by_kind: 'key' | 'user' | 'system';
  readonly created_by_id: string;
  readonly created_by_name: string;
  readonly by_operator: boolean;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly ended_at: Date | null;
  readonly ended_by: 'release' | 'expiry' | null;
  readonly resume_rate_per_minute: number | null;
  readonly active: boolean;
  /** It has ended, and what it kept back is on its way. */
  readonly resuming: boolean;
}

const holdColumns = (sql: Sql | Tx) => sql`
  h.id, h.scope, h.value, h.workspace_id, h.reason, h.created_by_kind, h.created_by_id, h.created_by_name, h.by_operator, h.created_at,
  h.expires_at, coalesce(h.ended_at, case when h.expires_at <= clock_now() then h.expires_at end) as ended_at,
  coalesce(h.ended_by, case when h.expires_at <= clock_now() then 'expiry' end) as ended_by, h.resume_rate_per_minute,
  h.ended_at is null and h.expires_at > clock_now() as active,
  (h.ended_at is not null or h.expires_at <= clock_now()) and h.resume_rate_per_minute is not null
    and h.drained_at is null as resuming`;

export interface NewHold {
  readonly id: string;
  readonly scope: HoldScope;
  readonly value: string;
  readonly workspace_id: string;
  readonly reason: string;
  readonly by: { readonly kind: 'key' | 'user' | 'system'; readonly id: string; readonly name: string };
  readonly by_operator: boolean;
  readonly expires_at: string | null;
  /** Where no end is given. */
  readonly default_seconds: number;
  readonly resume_rate_per_minute: number | null;
}

export async function liesAhead(tx: Tx, at: string, most_days: number): Promise<boolean> {
  const [row] = await tx<{ ahead: boolean }[]>`
    select a.at > clock_now() and a.at <= clock_now() + make_interval(days => ${most_days}) as ahead
    from (select ${at}::timestamptz as at) a`;
  return row?.ahead === true;
}

/** Null where the same is held already. */
export async function insertHold(tx: Tx, hold: NewHold): Promise<HoldRow | null> {
  const [row] = await tx<HoldRow[]>`
    insert into holds as h (id, scope, value, workspace_id, reason, created_by_kind, created_by_id, created_by_name,
      by_operator, created_at, expires_at, resume_rate_per_minute)
    values (${hold.id}, ${hold.scope}, ${hold.value}, ${hold.workspace_id}, ${hold.reason}, ${hold.by.kind},
      ${hold.by.id}, coalesce((select k.name from api_keys k where k.id = ${hold.by.id}), ${hold.by.name}),
      ${hold.by_operator}, clock_now(),
      coalesce(${hold.expires_at}::timestamptz, clock_now() + make_interval(secs => ${hold.default_seconds})),
      ${hold.resume_rate_per_minute})
    on conflict (scope, value, workspace_id) where ended_at is null do nothing
    returning ${holdColumns(tx)}`;
  await tx`select pg_notify(${HOLDS_CHANNEL}, '')`;
  return row ?? null;
}

/** So that what is decided about a hold is still so when it is written. */
export async function lockHold(tx: Tx, id: string): Promise<void> {
  await tx`select from holds where id = ${id} for update`;
}

/** Ends an active hold now; null where it has ended. */
export async function releaseHoldRow(tx: Tx, id: string): Promise<HoldRow | null> {
  const [row] = await tx<HoldRow[]>`
    update holds h set ended_at = clock_now(), ended_by = 'release'
    where h.id = ${id} and h.ended_at is null and h.expires_at > clock_now()
    returning ${holdColumns(tx)}`;
  await tx`select pg_notify(${HOLDS_CHANNEL}, '')`;
  if (row) {
    await callForWebhooks(tx, [row]);
    await dropMissedRuns(tx, [row]);
  }
  return row ?? null;
}

/** Lets what an ended hold kept back go on without its rate; null where it has none any more. */
export async function liftRateRow(tx: Tx, id: string): Promise<HoldRow | null> {
  const [row] = await tx<HoldRow[]>`
    update holds h set drained_at = clock_now()
    where h.id = ${id} and h.ended_at is not null and h.resume_rate_per_minute is not null and h.drained_at is null
    returning ${holdColumns(tx)}`;
  await tx`select pg_notify(${HOLDS_CHANNEL}, '')`;
  if (row) await callForWebhooks(tx, [row]);
  return row ?? null;
}

/** What an endpoint is owed was passed by while it was held; so the end of the hold calls for it. */
async function callForWebhooks(tx: Tx, ended: readonly HoldRow[]): Promise<void> {
  const calls = ended.filter(({ scope }) => scope === 'webhook');
  if (calls.length === 0) return;
  await tx`
    select call_for_webhooks(array(
      select jsonb_build_object('workspace_id', a.workspace_id, 'webhook_id', a.webhook_id) from unnest(
        ${calls.map(({ workspace_id }) => workspace_id)}::text[],
        ${calls.map(({ value }) => value)}::text[]
      ) as a (workspace_id, webhook_id)
    ))`;
}

/** A schedule has added to its queue all the while; one run does what all of them would. */
async function dropMissedRuns(tx: Tx, ended: readonly HoldRow[]): Promise<void> {
  for (const { scope, value } of ended) {
    if (scope !== 'queue' || !scheduledQueues.includes(value)) continue;
    await tx`
      delete from pgboss.job where name = ${value} and id = any (array(
        select j.id from pgboss.job j
        where j.name = ${value} and j.state = 'created' and j.start_after <= pgboss.job_now() and j.id <> (
          select k.id from pgboss.job k
          where k.name = ${value} and k.state = 'created' and k.start_after <= pgboss.job_now()
          order by k.created_on desc, k.id desc limit 1
        )
        for update of j skip locked
      ))`;
  }
}

/** Notes the end of holds whose time is over: of all, or of one that a new one is to follow. */
export async function endExpired(
  tx: Tx,
  twin: Pick<NewHold, 'scope' | 'value' | 'workspace_id'> | null = null,
): Promise<HoldRow[]> {
  const ended = await tx<HoldRow[]>`
    update holds h set ended_at = h.expires_at, ended_by = 'expiry'
    where h.id = any (array(
      select x.id from holds x
      where x.ended_at is null and x.expires_at <= clock_now()
        ${twin === null ? tx`` : tx`and x.scope = ${twin.scope} and x.value = ${twin.value} and x.workspace_id = ${twin.workspace_id}`}
      order by x.id for update skip locked
    ))
    returning ${holdColumns(tx)}`;
  await callForWebhooks(tx, ended);
  await dropMissedRuns(tx, ended);
  return ended;
}

/** A hold that workers have to know of: it is active, or what it kept back goes on at a rate. */
export interface HoldInForce {
  readonly id: string;
  readonly scope: HoldScope;
  readonly value: string;
  readonly workspace_id: string;
  readonly active: boolean;
  /** Its time is over, and nobody has noted that yet. */
  readonly expired: boolean;
  readonly rate: number | null;
}

/** Served by holds_in_force, which is empty but for what this returns. */
export async function holdsInForce(sql: Sql): Promise<HoldInForce[]> {
  return sql<HoldInForce[]>`
    select h.id, h.scope, h.value, h.workspace_id, h.ended_at is null and h.expires_at > clock_now() as active,
      h.ended_at is null and h.expires_at <= clock_now() as expired, h.resume_rate_per_minute as rate
    from holds h
    where h.ended_at is null or (h.resume_rate_per_minute is not null and h.drained_at is null)
    order by h.id`;
}

/** So much of a rate that nobody used may be made up for; a long pause of all workers ends in no burst. */
const MADE_UP_SECONDS = 5;

/**
 * How many of what ended holds keep back may go on now. All workers count on the row, so that together they keep to
 * the rate.
 */
export async function takeResumption(sql: Sql, ids: readonly string[], most: number): Promise<Map<string, number>> {
  // Steps are whole microseconds, as times are: a part of one, cut off, would leave the last step unfinished for ever.
  const rows = await sql<{ id: string; count: number }[]>`
    with due as materialized (
      select h.id, b.base, s.step,
        least(${most}, floor(extract(epoch from clock_now() - b.base) / extract(epoch from s.step)))::int as count
      from holds h
      cross join lateral (select ceil(60000000.0 / h.resume_rate_per_minute) * interval '1 microsecond' as step) s
      cross join lateral (
        select greatest(
          coalesce(h.resumed_until, h.ended_at),
          clock_now() - greatest(make_interval(secs => ${MADE_UP_SECONDS}::float8), s.step)
        ) as base
      ) b
      where h.id = any (${ids}::text[]) and h.ended_at is not null and h.resume_rate_per_minute is not null
      order by h.id for update of h skip locked
    )
    update holds h set resumed_until = d.base + d.count * d.step
    from due d where h.id = d.id and d.count > 0
    returning h.id, d.count`;
  return new Map(rows.map((row) => [row.id, row.count]));
}

/**
 * Notes of ended holds that nothing is left to resume, and returns those it was noted of: workers that have not heard
 * of the end may still put something aside for a moment.
 */
export async function noteDrained(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    update holds set drained_at = clock_now()
    where id = any (${ids}::text[]) and drained_at is null and ended_at < clock_now() - interval '5 seconds'
    returning id`;
  return new Set(rows.map((row) => row.id));
}

/**
 * Of ended holds, those that keep nothing back any more. Of a queue that is what was due at the end of the hold and
 * has not been claimed since, wherever it waits; but not for another hold, or a lane that is closed. What came later
 * stands behind it.
 */
export async function emptyHolds(sql: Sql, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select h.id from holds h
    where h.id = any (${ids}::text[]) and case h.scope
      when 'queue' then not exists (
        select from pgboss.job j
        where j.name = h.value and j.state in ('created', 'retry') and not j.blocked and j.start_after <= h.ended_at
      ) and not exists (
        select from pgboss.job j
        join recipients r on r.workspace_id = j.data->>'workspace_id' and r.message_id = j.data->>'message_id'
          and r.id = j.data->>'recipient_id'
        where j.name = h.value and j.state = 'active' and r.state in ('scheduled', 'queued', 'deferred')
          and r.due_at <= h.ended_at
      ) and not exists (
        select from parked_deliveries p
        where p.due_at <= h.ended_at and p.lane not like 'held %' and not exists (
          select from lanes l where l.lane = p.lane and l.closed_until > clock_now()
        )
      )
      when 'webhook' then not exists (
        select from webhook_deliveries d
        where d.webhook_id = h.value and d.state = 'pending' and d.next_attempt_at <= clock_now()
          and d.created_at <= h.ended_at
      )
      else not exists (select from parked_deliveries p where p.lane = 'held ' || h.id) end`;
  return rows.map((row) => row.id);
}

export async function holdById(sql: Sql | Tx, id: string): Promise<HoldRow | null> {
  const [row] = await sql<HoldRow[]>`select ${holdColumns(sql)} from holds h where h.id = ${id}`;
  return row ?? null;
}

export async function holdsByIds(sql: Sql, ids: readonly string[]): Promise<HoldRow[]> {
  return sql<HoldRow[]>`select ${holdColumns(sql)} from holds h where h.id = any (${[...ids]}::text[])`;
}

/** Newest first, of a workspace and the instance, or of all; ended ones too, or those in force only. */
export async function pageOfHolds(
  sql: Sql,
  asked: { readonly workspace_id: string | null; readonly active: boolean },
  after: string | null,
  count: number,
): Promise<HoldRow[]> {
  return sql<HoldRow[]>`
    select ${holdColumns(sql)} from holds h
    where ${asked.active ? sql`(h.ended_at is null or (h.resume_rate_per_minute is not null and h.drained_at is null))` : sql`true`}
      and ${asked.active ? sql`h.ended_at is null and h.expires_at > clock_now()` : sql`true`}
      and ${asked.workspace_id === null ? sql`true` : sql`h.workspace_id in ('', ${asked.workspace_id})`}
      and ${after === null ? sql`true` : sql`h.id < ${after}`}
    order by h.id desc limit ${count}`;
}

/** Whose a domain, key or webhook is: of one workspace, or of whichever has it. Null where nobody has it. */
export async function ownerOf(
  sql: Sql,
  scope: HoldScope,
  value: string,
  workspace_id: string | null,
): Promise<string | null> {
  const own = workspace_id === null ? sql`true` : sql`o.workspace_id = ${workspace_id}`;
  const [row] = await (scope === 'sender_domain'
    ? sql<{ workspace_id: string }[]>`
        select o.workspace_id from domains o where o.name = ${value} and ${own} limit 1`
    : scope === 'api_key'
      ? sql<{ workspace_id: string }[]>`select o.workspace_id from api_keys o where o.id = ${value} and ${own}`
      : sql<{ workspace_id: string }[]>`select o.workspace_id from webhooks o where o.id = ${value} and ${own}`);
  return row?.workspace_id ?? null;
}
