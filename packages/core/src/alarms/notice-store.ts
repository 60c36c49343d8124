import type { Fragment, Sql, Tx } from '@postrider/db';
import { INSTANCE } from '../operation/access.ts';
import type { AlarmSettings } from './settings-store.ts';
import { ALARM, type AlarmRow } from './store.ts';
import type { NoticeKind } from './transitions.ts';

// A notice that is not accepted within this time is dropped.
const EXPIRE_SECONDS = 86_400;
const MAX_OWN_WAITING = 100;
const MAX_INSTANCE_WAITING = 1000;
// Maximum notices per request or email.
const MAX_BATCH = 100;
// Collapses a storm into one email: alarms raised within this time of an email wait for the next one.
const MAIL_GAP_SECONDS = 300;
// A request takes at most 10 s. If its process dies, another process gets the turn after this time.
const LEASE_SECONDS = 60;
const FIRST_RETRY_SECONDS = 15;
const MAX_RETRY_SECONDS = 900;

export type NoticeChannel = 'mail' | 'webhook';

/** The right to send one owner's notices through one channel. */
export interface NoticeTurn {
  readonly workspace_id: string;
  readonly way: NoticeChannel;
  /** The end of the lease at database precision, which also identifies the lease. */
  readonly lease: string;
}

export interface DueNotice extends AlarmRow {
  readonly kind: NoticeKind;
  /** When the notice became due. */
  readonly told_at: Date;
}

const columnOf = (sql: Sql, channel: NoticeChannel) => sql(channel === 'mail' ? 'mail_due' : 'webhook_due');

/**
 * Claims turns of owners with notices due: those without a failure first, then the longest overdue. No other process
 * gets them before the lease expires.
 */
export async function takeTurns(sql: Sql, owners: 'instance' | 'workspaces', count: number): Promise<NoticeTurn[]> {
  const scope = owners === 'instance' ? sql`workspace_id = ${INSTANCE}` : sql`workspace_id <> ${INSTANCE}`;
  return sql<NoticeTurn[]>`
    insert into notice_turns as t (workspace_id, way, next_at)
    select d.workspace_id, d.way, clock_now() + make_interval(secs => ${LEASE_SECONDS})
    from (
      select workspace_id, 'webhook' as way from alarms where webhook_due is not null and ${scope}
      union
      select a.workspace_id, 'mail' from alarms a where a.mail_due is not null and ${scope} and not exists (
        select from alarm_mails m where m.workspace_id = a.workspace_id
          and m.sent_at > clock_now() - make_interval(secs => ${MAIL_GAP_SECONDS})
      )
    ) d
    left join notice_turns last on last.workspace_id = d.workspace_id and last.way = d.way
    where last.next_at is null or last.next_at <= clock_now()
    order by last.next_at nulls first, d.workspace_id, d.way limit ${count}
    on conflict (workspace_id, way) do update set next_at = excluded.next_at where t.next_at <= clock_now()
    returning workspace_id, way, next_at::text as lease`;
}

/** Returns the oldest notices of an owner. Served by alarms_due. */
export async function dueNotices(sql: Sql, { workspace_id, way: channel }: NoticeTurn): Promise<readonly DueNotice[]> {
  const column = columnOf(sql, channel);
  return sql<DueNotice[]>`
    select ${sql.unsafe(ALARM)}, told_at, ${column} as kind from alarms
    where workspace_id = ${workspace_id} and ${column} is not null and (mail_due is not null or webhook_due is not null)
    order by id limit ${MAX_BATCH}`;
}

/** Ends a turn with the notices that were sent; a notice that has since changed its kind stays due. */
export async function endTurn(sql: Sql, turn: NoticeTurn, notices: readonly DueNotice[]): Promise<void> {
  const column = columnOf(sql, turn.way);
  await sql`
    with ended as (delete from notice_turns where ${ofLease(sql, turn)})
    update alarms a set ${column} = null
    from unnest(${notices.map(({ id }) => id)}::uuid[], ${notices.map(({ kind }) => kind)}::text[]) as n (id, kind)
    where a.id = n.id and a.${column} = n.kind`;
}

/** Ends a turn in which nothing was sent; each failure delays the next one further. */
export async function delayTurn(sql: Sql, turn: NoticeTurn): Promise<void> {
  await sql`
    update notice_turns set attempt_count = attempt_count + 1, next_at = clock_now() + make_interval(
      secs => least(${MAX_RETRY_SECONDS}::float8, ${FIRST_RETRY_SECONDS}::float8 * 2 ^ least(attempt_count, 10)))
    where ${ofLease(sql, turn)}`;
}

/** Ends a turn that quiet hours prevented from sending; it is retried every minute until they end. */
export async function skipTurn(sql: Sql, turn: NoticeTurn): Promise<void> {
  await sql`
    update notice_turns set next_at = clock_now() + interval '1 minute' where ${ofLease(sql, turn)}`;
}

function ofLease(sql: Sql, { workspace_id, way: channel, lease }: NoticeTurn): Fragment {
  return sql`workspace_id = ${workspace_id} and way = ${channel} and next_at = ${lease}::text::timestamptz`;
}

export const noticeDropReasons = ['expired', 'full'] as const;

export interface DroppedNotices {
  readonly reason: (typeof noticeDropReasons)[number];
  readonly count: number;
}

/** Drops notices that have waited for a day, and the oldest of any owner above its limit. */
export async function dropNotices(tx: Tx): Promise<readonly DroppedNotices[]> {
  return tx<DroppedNotices[]>`
    with gone as materialized (
      select id, case when expired then 'expired' else 'full' end as reason
      from (
        select id, workspace_id, told_at <= clock_now() - make_interval(secs => ${EXPIRE_SECONDS}) as expired,
          row_number() over (partition by workspace_id order by told_at desc, id desc) as place
        from alarms where mail_due is not null or webhook_due is not null
      ) w
      where expired
        or place > case when workspace_id = ${INSTANCE} then ${MAX_INSTANCE_WAITING}::int else ${MAX_OWN_WAITING}::int end
    ),
    dropped as (
      update alarms a set mail_due = null, webhook_due = null, notice_dropped_at = clock_now()
      from gone where a.id = gone.id returning gone.reason
    )
    select reason, count(*)::int as count from dropped group by 1`;
}

export interface OwnerSettings extends AlarmSettings {
  readonly workspace_id: string;
  readonly webhook_secret: Buffer | null;
  /** null unless a rotation is in progress. */
  readonly webhook_previous_secret: Buffer | null;
  readonly minute_of_day: number;
}

export async function ownerSettingsOf(sql: Sql, workspace_id: string): Promise<OwnerSettings> {
  const [row] = await sql<OwnerSettings[]>`
    select w.id as workspace_id, coalesce(s.emails, '{}') as emails, s.webhook_url,
      coalesce(s.webhook_format, 'json') as webhook_format, s.webhook_secret, s.webhook_secret_last4,
      case when s.webhook_previous_until > clock_now() then s.webhook_previous_secret end as webhook_previous_secret,
      s.from_address, s.quiet_from, s.quiet_until,
      (extract(hour from clock_now() at time zone 'UTC') * 60 + extract(minute from clock_now() at time zone 'UTC'))::int
        as minute_of_day
    from (select ${workspace_id}::uuid as id) w
    left join alarm_settings s on s.workspace_id = w.id`;
  if (!row) throw new Error('a select of one row answered nothing');
  return row;
}

export async function noteMail(sql: Sql, workspace_id: string): Promise<void> {
  await sql`
    insert into alarm_mails (workspace_id, sent_at) values (${workspace_id}, clock_now())
    on conflict (workspace_id) do update set sent_at = excluded.sent_at`;
}
