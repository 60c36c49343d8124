import { isoTimes, type Sql, type Tx } from '@postrider/db';
import type { SendableFacts } from '../domains/index.ts';
import { INSTANCE } from '../operation/access.ts';
import type { AlarmChange, OpenAlarm } from './transitions.ts';

export interface AlarmRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly rule: string;
  readonly subject: string;
  readonly status: 'active' | 'ended';
  readonly detail: string;
  readonly page: string;
  readonly started_at: Date;
  readonly ended_at: Date | null;
  readonly acknowledged_at: Date | null;
  readonly acknowledged_by: string | null;
  readonly notice_dropped_at: Date | null;
}

export const ALARM =
  'id, workspace_id, rule, subject, status, detail, page, started_at, ended_at, acknowledged_at, acknowledged_by, notice_dropped_at';

export async function openAlarms(tx: Tx): Promise<{ readonly now: Date; readonly open: OpenAlarm[] }> {
  const [[clock], open] = await Promise.all([
    tx<{ now: Date }[]>`select clock_now() as now`,
    tx<OpenAlarm[]>`
      select id, workspace_id, rule, subject, status, detail, value, page, seen_since, clear_since, started_at,
        acknowledged_at, told_at
      from alarms where status <> 'ended'`,
  ]);
  if (!clock) throw new Error('a select without a condition answered nothing');
  return { now: clock.now, open };
}

export async function saveTurn(tx: Tx, changed: readonly AlarmChange[], dropped: readonly string[]): Promise<void> {
  if (dropped.length > 0) await tx`delete from alarms where id = any (${[...dropped]}::uuid[])`;
  if (changed.length === 0) return;
  await tx`
    insert into alarms as a (id, workspace_id, rule, subject, status, detail, value, page, seen_since, clear_since,
      started_at, ended_at, told_at, mail_due, webhook_due)
    select id, workspace_id, rule, subject, status, detail, value, page, seen_since, clear_since, started_at, ended_at,
      told_at, notice, notice
    from unnest(
      ${changed.map(({ id }) => id)}::uuid[],
      ${changed.map(({ workspace_id }) => workspace_id)}::uuid[],
      ${changed.map(({ rule }) => rule)}::text[],
      ${changed.map(({ subject }) => subject)}::text[],
      ${changed.map(({ status }) => status)}::text[],
      ${changed.map(({ detail }) => detail)}::text[],
      ${changed.map(({ value }) => value)}::float8[],
      ${changed.map(({ page }) => page)}::text[],
      ${isoTimes(changed.map(({ seen_since }) => seen_since))}::timestamptz[],
      ${isoTimes(changed.map(({ clear_since }) => clear_since))}::timestamptz[],
      ${isoTimes(changed.map(({ started_at }) => started_at))}::timestamptz[],
      ${isoTimes(changed.map(({ ended_at }) => ended_at))}::timestamptz[],
      ${isoTimes(changed.map(({ told_at }) => told_at))}::timestamptz[],
      ${changed.map(({ notice }) => notice)}::text[]
    ) as c (id, workspace_id, rule, subject, status, detail, value, page, seen_since, clear_since, started_at, ended_at,
      told_at, notice)
    on conflict (id) do update set status = excluded.status, detail = excluded.detail, value = excluded.value,
      clear_since = excluded.clear_since, started_at = excluded.started_at, ended_at = excluded.ended_at,
      told_at = excluded.told_at, mail_due = coalesce(excluded.mail_due, a.mail_due),
      webhook_due = coalesce(excluded.webhook_due, a.webhook_due)`;
}

/**
 * Records a database outage, to be reported by email now that the database is back; if several processes saw it, the
 * first one records it.
 */
export async function noteOutage(
  sql: Sql,
  {
    id,
    rule,
    since,
    until,
  }: { readonly id: string; readonly rule: string; readonly since: Date; readonly until: Date },
): Promise<void> {
  await sql`
    insert into alarms (id, workspace_id, rule, subject, status, detail, value, page, seen_since, clear_since,
      started_at, ended_at, told_at, mail_due)
    select ${id}, no_id(), ${rule}, '', 'ended', 'The database did not answer.', 1, '/instance/status', ${since},
      ${until}, ${since}, ${until}, clock_now(), 'end'
    where not exists (select from alarms where rule = ${rule} and workspace_id = no_id() and ended_at > ${since})`;
}

export interface AlarmCounts {
  readonly active: number;
  readonly notices_waiting: number;
}

export async function countAlarms(tx: Tx): Promise<AlarmCounts> {
  const [row] = await tx<AlarmCounts[]>`
    select (select count(*)::int from alarms where status = 'active') as active,
      (select count(*)::int from alarms where mail_due is not null or webhook_due is not null) as notices_waiting`;
  return row ?? { active: 0, notices_waiting: 0 };
}

export interface SenderDomain {
  readonly workspace_id: string;
  readonly name: string;
}

/**
 * Returns the domain that sends notices, with its workspace: the domain of this name if one is given, otherwise the
 * first domain of the workspace or, for the instance, of the oldest workspace.
 */
export async function senderDomain(
  sql: Sql,
  sender: { readonly workspace_id: string; readonly domain: string | null; readonly sandbox: boolean },
): Promise<SenderDomain | null> {
  const [row] = await sql<SenderDomain[]>`
    select d.workspace_id, d.name from domains d join workspaces w on w.id = d.workspace_id
    where d.status in ('verified', 'at_risk') and (not d.sandbox or ${sender.sandbox})
      and (${sender.workspace_id === ''} or d.workspace_id = ${sender.workspace_id})
      and (${sender.domain}::text is null or d.name = ${sender.domain})
    order by d.sandbox, w.created_at, w.id, d.verified_at, d.name limit 1`;
  return row ?? null;
}

/**
 * Returns the facts of a domain in a workspace or, for the instance, in any workspace; a verified domain comes first.
 */
export async function domainFacts(sql: Sql, workspace_id: string, name: string): Promise<SendableFacts | undefined> {
  const [row] = await sql<SendableFacts[]>`
    select d.status, d.sandbox from domains d
    where d.name = ${name} and (${workspace_id === ''} or d.workspace_id = ${workspace_id})
    order by d.status in ('verified', 'at_risk') desc, d.sandbox limit 1`;
  return row;
}

export interface ConditionRow {
  readonly rule: string;
  readonly subject: string;
  readonly detail: string;
  readonly page: string;
  readonly seen_since: Date;
}

/** Returns what the last turn found true for the instance. Served by the index of open alarms. */
export async function instanceConditions(sql: Sql): Promise<ConditionRow[]> {
  return sql<ConditionRow[]>`
    select rule, subject, detail, page, seen_since from alarms
    where workspace_id = ${INSTANCE} and status in ('pending', 'active') and clear_since is null
    order by seen_since, id limit 100`;
}

/** Returns a page of alarms that were raised, newest first. Served by alarms_newest. */
export async function readAlarmPage(
  sql: Sql,
  owners: readonly string[],
  active: boolean,
  before: string | null,
  count: number,
): Promise<AlarmRow[]> {
  return sql<AlarmRow[]>`
    select ${sql.unsafe(ALARM)} from alarms
    where workspace_id = any (${[...owners]}::uuid[]) and status <> 'pending' and (not ${active} or status = 'active')
      ${before === null ? sql`` : sql`and id < ${before}`}
    order by id desc limit ${count}`;
}

export async function alarmsByIds(sql: Sql, ids: readonly string[]): Promise<AlarmRow[]> {
  return sql<AlarmRow[]>`
    select ${sql.unsafe(ALARM)} from alarms where id = any (${[...ids]}::uuid[]) and status <> 'pending'`;
}

/** Acknowledges an alarm; returns null if it was acknowledged before. */
export async function acknowledgeRow(tx: Tx, id: string, author: string): Promise<AlarmRow | null> {
  const [row] = await tx<AlarmRow[]>`
    update alarms set acknowledged_at = clock_now(), acknowledged_by = ${author}
    where id = ${id} and acknowledged_at is null returning ${tx.unsafe(ALARM)}`;
  return row ?? null;
}

/** Returns how many alarms of each rule are active for an owner. Served by the index of open alarms. */
export async function countActive(
  sql: Sql,
  workspace_id: string,
): Promise<{ readonly rule: string; readonly count: number }[]> {
  return sql<{ rule: string; count: number }[]>`
    select rule, count(*)::int as count from alarms
    where workspace_id = ${workspace_id} and status = 'active' group by rule`;
}

/**
 * Deletes alarms that ended long ago, the failure counts of owners that have had nothing to send since, and the times
 * of earlier test alerts.
 */
export async function forgetAlarms(sql: Sql | Tx): Promise<void> {
  await sql`
    delete from alarm_tests where clock_now() - interval '1 hour' >= all (sent_at)`;
  await sql`delete from notice_turns where next_at < clock_now() - interval '1 day'`;
  await sql`delete from alarms where status = 'ended' and ended_at < clock_now() - interval '90 days'`;
}
