import type { Sql, Tx } from '@postrider/db';
import { fetchedJobs, fromJobsDueBy, keepNewestReadyJob } from '@postrider/queue';
import { idleInSql } from '../states/index.ts';
import { scheduledQueues } from './held-queues.ts';
import { ratedQueue } from './queue-store.ts';
import type { HoldScope } from './scope.ts';

/**
 * Notified by the commit that begins or ends a hold; a worker that misses the notification sees the change within a
 * second, at its next poll.
 */
export const HOLDS_CHANNEL = 'postrider_holds';

// The expiry of a hold that ends only when it is released: anything not known to be safe to send stays held until an
// operator has checked.
export const NEVER = new Date('9999-12-31T00:00:00.000Z');

export interface HoldRow {
  readonly id: string;
  readonly scope: HoldScope;
  readonly value: string;
  /** Empty for a hold on the whole instance. */
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
  /** Whether the hold has ended and its backlog is being released. */
  readonly resuming: boolean;
}

/** Selects the value of a hold: API keys and webhooks are stored by id, all other targets by name. */
const heldValue = (sql: Sql | Tx) => sql`case when h.value = '' then id_text(h.value_id) else h.value end`;

function heldBy({ scope, value }: Pick<NewHold, 'scope' | 'value'>): { readonly name: string; readonly id: string } {
  return scope === 'api_key' || scope === 'webhook' ? { name: '', id: value } : { name: value, id: '' };
}

const holdColumns = (sql: Sql | Tx) => sql`
  h.id, h.scope, ${heldValue(sql)} as value, h.workspace_id, h.reason, h.created_by_kind,
  coalesce(id_text(h.created_by_id), h.created_by_kind) as created_by_id, h.created_by_name, h.by_operator, h.created_at,
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
  readonly expires_at: Date | null;
  /** Used if expires_at is null. */
  readonly default_seconds: number;
  readonly resume_rate_per_minute: number | null;
}

export async function liesAhead(tx: Tx, at: Date, max_days: number): Promise<boolean> {
  const [row] = await tx<{ ahead: boolean }[]>`
    select a.at > clock_now() and a.at <= clock_now() + make_interval(days => ${max_days}) as ahead
    from (select ${at}::timestamptz as at) a`;
  return row?.ahead === true;
}

/** Stores a hold; returns null if the same hold already exists. */
export async function insertHold(tx: Tx, hold: NewHold): Promise<HoldRow | null> {
  const target = heldBy(hold);
  const made_by = hold.by.kind === 'system' ? null : hold.by.id;
  const [row] = await tx<HoldRow[]>`
    insert into holds as h (id, scope, value, value_id, workspace_id, reason, created_by_kind, created_by_id, created_by_name,
      by_operator, created_at, expires_at, resume_rate_per_minute)
    values (${hold.id}, ${hold.scope}, ${target.name}, ${target.id}, ${hold.workspace_id}, ${hold.reason},
      ${hold.by.kind}, ${made_by}, coalesce((select k.name from api_keys k where k.id = ${made_by}), ${hold.by.name}),
      ${hold.by_operator}, clock_now(),
      coalesce(${hold.expires_at}::timestamptz, clock_now() + make_interval(secs => ${hold.default_seconds})),
      ${hold.resume_rate_per_minute})
    on conflict (scope, value, value_id, workspace_id) where ended_at is null do nothing
    returning ${holdColumns(tx)}`;
  await tx`select pg_notify(${HOLDS_CHANNEL}, '')`;
  return row ?? null;
}

/** Returns the open hold on a target. Served by the unique index on open holds. */
export async function openHoldOn(
  tx: Tx,
  target: Pick<NewHold, 'scope' | 'value' | 'workspace_id'>,
): Promise<HoldRow | null> {
  const hold_target = heldBy(target);
  const [row] = await tx<HoldRow[]>`
    select ${holdColumns(tx)} from holds h
    where h.scope = ${target.scope} and h.value = ${hold_target.name} and h.value_id = ${hold_target.id}
      and h.workspace_id = ${target.workspace_id} and h.ended_at is null`;
  return row ?? null;
}

/** Locks a hold, so that a decision about it is still valid at the write. */
export async function lockHold(tx: Tx, id: string): Promise<void> {
  await tx`select from holds where id = ${id} for update`;
}

/** Removes the expiry of an active hold; returns null if it has ended. */
export async function makeEndless(tx: Tx, id: string): Promise<HoldRow | null> {
  const [row] = await tx<HoldRow[]>`
    update holds h set expires_at = ${NEVER}
    where h.id = ${id} and h.ended_at is null and h.expires_at > clock_now()
    returning ${holdColumns(tx)}`;
  await tx`select pg_notify(${HOLDS_CHANNEL}, '')`;
  return row ?? null;
}

/** Ends an active hold now, optionally overriding its resume rate; returns null if the hold has already ended. */
export async function releaseHoldRow(tx: Tx, id: string, rate: number | null): Promise<HoldRow | null> {
  const [row] = await tx<HoldRow[]>`
    update holds h set ended_at = clock_now(), ended_by = 'release',
      resume_rate_per_minute = coalesce(${rate}, h.resume_rate_per_minute)
    where h.id = ${id} and h.ended_at is null and h.expires_at > clock_now()
    returning ${holdColumns(tx)}`;
  await tx`select pg_notify(${HOLDS_CHANNEL}, '')`;
  if (row) {
    await callForWebhooks(tx, [row]);
    await dropMissedRuns(tx, [row]);
  }
  return row ?? null;
}

/** Lifts the resume rate of an ended hold; returns null if the hold no longer has a rate. */
export async function liftRateRow(tx: Tx, id: string): Promise<HoldRow | null> {
  const [row] = await tx<HoldRow[]>`
    update holds h set drained_at = clock_now()
    where h.id = ${id} and h.ended_at is not null and h.resume_rate_per_minute is not null and h.drained_at is null
    returning ${holdColumns(tx)}`;
  await tx`select pg_notify(${HOLDS_CHANNEL}, '')`;
  if (row) await callForWebhooks(tx, [row]);
  return row ?? null;
}

/**
 * Wakes the webhooks of ended holds: claims skipped them during the hold, so nothing else would wake their deliveries.
 */
async function callForWebhooks(tx: Tx, holds: readonly HoldRow[]): Promise<void> {
  const calls = holds.filter(({ scope }) => scope === 'webhook');
  if (calls.length === 0) return;
  await tx`
    select call_for_webhooks(array(
      select jsonb_build_object('workspace_id', a.workspace_id, 'webhook_id', a.webhook_id) from unnest(
        ${calls.map(({ workspace_id }) => workspace_id)}::uuid[],
        ${calls.map(({ value }) => value)}::uuid[]
      ) as a (workspace_id, webhook_id)
    ))`;
}

/**
 * Keeps only the newest ready job of each scheduled queue: the schedule kept adding jobs during the hold, and a single
 * run does the work of all of them.
 */
async function dropMissedRuns(tx: Tx, holds: readonly HoldRow[]): Promise<void> {
  for (const { scope, value } of holds) {
    if (scope !== 'queue' || !scheduledQueues.includes(value)) continue;
    await keepNewestReadyJob(tx, value);
  }
}

/** Records the end of expired holds: all of them, or only the one that a new hold replaces. */
export async function endExpired(
  tx: Tx,
  replaced: Pick<NewHold, 'scope' | 'value' | 'workspace_id'> | null = null,
): Promise<HoldRow[]> {
  const rows = await tx<HoldRow[]>`
    update holds h set ended_at = h.expires_at, ended_by = 'expiry'
    where h.id = any (array(
      select x.id from holds x
      where x.ended_at is null and x.expires_at <= clock_now()
        ${
          replaced === null
            ? tx``
            : tx`and x.scope = ${replaced.scope} and x.value = ${heldBy(replaced).name}
            and x.value_id = ${heldBy(replaced).id} and x.workspace_id = ${replaced.workspace_id}`
        }
      order by x.id for update skip locked
    ))
    returning ${holdColumns(tx)}`;
  await callForWebhooks(tx, rows);
  await dropMissedRuns(tx, rows);
  return rows;
}

/** A hold that workers must apply: active, or ended with a resume rate. */
export interface HoldInForce {
  readonly id: string;
  readonly scope: HoldScope;
  readonly value: string;
  readonly workspace_id: string;
  readonly active: boolean;
  /** Expired, but not yet recorded as ended. */
  readonly expired: boolean;
  readonly rate: number | null;
}

/** Returns the holds that workers must apply. Served by holds_in_force, which contains only these rows. */
export async function holdsInForce(sql: Sql): Promise<HoldInForce[]> {
  return sql<HoldInForce[]>`
    select h.id, h.scope, ${heldValue(sql)} as value, h.workspace_id, h.ended_at is null and h.expires_at > clock_now() as active,
      h.ended_at is null and h.expires_at <= clock_now() as expired, h.resume_rate_per_minute as rate
    from holds h
    where h.ended_at is null or (h.resume_rate_per_minute is not null and h.drained_at is null)
    order by h.id`;
}

/** The most seconds of unused rate that accumulate, so that no burst follows a long pause of all workers. */
const MADE_UP_SECONDS = 5;

/**
 * Takes tokens for the backlog of ended holds. Each hold's row is a token bucket that all workers share, so together
 * they stay within the rate.
 */
export async function takeResumption(sql: Sql, ids: readonly string[], max: number): Promise<Map<string, number>> {
  // Steps are rounded up to whole microseconds, the precision of timestamps: a truncated fraction would leave the last
  // step unfinished forever.
  const rows = await sql<{ id: string; count: number }[]>`
    with due as materialized (
      select h.id, b.base, s.step,
        least(${max}, floor(extract(epoch from clock_now() - b.base) / extract(epoch from s.step)))::int as count
      from holds h
      cross join lateral (select ceil(60000000.0 / h.resume_rate_per_minute) * interval '1 microsecond' as step) s
      cross join lateral (
        select greatest(
          coalesce(h.resumed_until, h.ended_at),
          clock_now() - greatest(make_interval(secs => ${MADE_UP_SECONDS}::float8), s.step)
        ) as base
      ) b
      where h.id = any (${ids}::uuid[]) and h.ended_at is not null and h.resume_rate_per_minute is not null
      order by h.id for update of h skip locked
    )
    update holds h set resumed_until = d.base + d.count * d.step
    from due d where h.id = d.id and d.count > 0
    returning h.id, d.count`;
  return new Map(rows.map((row) => [row.id, row.count]));
}

/**
 * Records that ended holds have no backlog left, and returns their ids. Skips holds that ended within the last five
 * seconds, because workers that have not yet seen the end may still park messages.
 */
export async function noteDrained(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    update holds set drained_at = clock_now()
    where id = any (${ids}::uuid[]) and drained_at is null and ended_at < clock_now() - interval '5 seconds'
    returning id`;
  return new Set(rows.map((row) => row.id));
}

/**
 * Returns ended holds without a backlog. A queue's backlog consists of the jobs that were due at the end of the hold
 * and have not been claimed since, unless they wait for another hold or a closed lane; messages due later do not count.
 */
export async function emptyHolds(sql: Sql, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select h.id from holds h
    where h.id = any (${ids}::uuid[]) and case
      when h.scope in ('queue', 'instance') then not exists (
        select ${fromJobsDueBy(sql, ratedQueue(sql), sql`h.ended_at`)}
      ) and not exists (
        select from (${fetchedJobs(sql, ratedQueue(sql))}) j
        join recipients r on r.workspace_id = (j.data->>'workspace_id')::uuid
          and r.message_id = (j.data->>'message_id')::uuid and r.id = (j.data->>'recipient_id')::uuid
        where r.state in (${idleInSql})
          and r.due_at <= h.ended_at
      ) and not exists (
        select from parked_deliveries p
        where p.due_at <= h.ended_at and p.lane not like 'held %' and not exists (
          select from lanes l where l.lane = p.lane and l.closed_until > clock_now()
        )
      )
      when h.scope = 'webhook' then not exists (
        select from webhook_deliveries d
        where d.webhook_id = h.value_id and d.state = 'pending' and d.next_attempt_at <= clock_now()
          and d.created_at <= h.ended_at
      )
      else not exists (select from parked_deliveries p where p.lane = 'held ' || id_text(h.id)) end`;
  return rows.map((row) => row.id);
}

export async function holdById(sql: Sql | Tx, id: string): Promise<HoldRow | null> {
  const [row] = await sql<HoldRow[]>`select ${holdColumns(sql)} from holds h where h.id = ${id}`;
  return row ?? null;
}

export async function holdsByIds(sql: Sql, ids: readonly string[]): Promise<HoldRow[]> {
  return sql<HoldRow[]>`select ${holdColumns(sql)} from holds h where h.id = any (${[...ids]}::uuid[])`;
}

/**
 * Returns the active holds that stop all of a workspace's email to a domain, and those of `ids`. A null domain matches
 * no destination. Served by holds_in_force.
 */
export async function holdsOnMail(
  sql: Sql,
  workspace_id: string,
  { domain, ids }: { readonly domain: string | null; readonly ids: readonly string[] },
): Promise<HoldRow[]> {
  return sql<HoldRow[]>`
    select ${holdColumns(sql)} from holds h
    where h.ended_at is null and h.expires_at > clock_now() and h.workspace_id in (no_id(), ${workspace_id})
      and (h.id = any (${[...ids]}::uuid[]) or case h.scope
        when 'instance' then true
        when 'queue' then h.value = 'delivery.attempt'
        when 'destination' then h.value = ${domain}
        else false end)
    order by h.scope = 'queue', h.id`;
}

/**
 * Returns a page of holds, newest first: those of one workspace and the instance, or those of all workspaces;
 * optionally including ended holds.
 */
export async function readHoldPage(
  sql: Sql,
  filter: { readonly workspace_id: string | null; readonly active: boolean },
  after: string | null,
  count: number,
): Promise<HoldRow[]> {
  return sql<HoldRow[]>`
    select ${holdColumns(sql)} from holds h
    where ${filter.active ? sql`(h.ended_at is null or (h.resume_rate_per_minute is not null and h.drained_at is null))` : sql`true`}
      and ${filter.active ? sql`h.ended_at is null and h.expires_at > clock_now()` : sql`true`}
      and ${filter.workspace_id === null ? sql`true` : sql`h.workspace_id in (no_id(), ${filter.workspace_id})`}
      and ${after === null ? sql`true` : sql`h.id < ${after}`}
    order by h.id desc limit ${count}`;
}

/** Returns the workspace of a domain, key or webhook, within one workspace or all; null if it does not exist. */
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
