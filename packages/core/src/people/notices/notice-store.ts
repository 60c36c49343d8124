import type { Sql, Tx } from '@postrider/db';

/** Of one kind, so that many of one do not keep another from being stored. */
const MAX_PER_DAY = 10;

export const noticeKinds = [
  'new_device',
  'codes_locked',
  'recovery_code_used',
  'recovery_codes_renewed',
  'factor_added',
  'factor_removed',
  'password_changed',
  'sign_in_reset',
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

export interface NoticeRow {
  readonly kind: NoticeKind;
  readonly address: string | null;
  readonly user_agent: string | null;
  readonly created_at: Date;
}

/** From where something happened: the IP address, and the browser or the session that told which one it is. */
export interface Origin {
  readonly address: string | null;
  readonly user_agent?: string | null;
  readonly session_id?: string | null;
}

/** Stores a notice; returns its id, or null if the person has had too many of the kind in a day. */
export async function insertNotice(
  tx: Tx,
  user_id: string,
  kind: NoticeKind,
  { address, user_agent = null, session_id = null }: Origin,
): Promise<number | null> {
  const [row] = await tx<{ id: number }[]>`
    insert into account_notices (user_id, kind, address, user_agent, created_at)
    select ${user_id}, ${kind}, ${address},
      coalesce(${user_agent}, (select s.user_agent from sessions s where s.id = ${session_id}::uuid)), clock_now()
    where (select count(*) from account_notices
      where user_id = ${user_id} and kind = ${kind} and created_at > clock_now() - interval '1 day') < ${MAX_PER_DAY}
    returning id`;
  return row?.id ?? null;
}

/** Returns a notice that has not been emailed, with the address of its owner. */
export async function readDueNotice(sql: Sql, id: number): Promise<(NoticeRow & { readonly email: string }) | null> {
  const [row] = await sql<(NoticeRow & { email: string })[]>`
    select n.kind, n.address, n.user_agent, n.created_at, u.email
    from account_notices n join users u on u.id = n.user_id where n.id = ${id} and n.outcome is null`;
  return row ?? null;
}

export async function settleNotice(sql: Sql, id: number, outcome: 'emailed' | 'captured' | 'unsent'): Promise<void> {
  await sql`update account_notices set outcome = ${outcome} where id = ${id}`;
}

export async function noticesOf(sql: Sql, user_id: string, count: number): Promise<NoticeRow[]> {
  return sql<NoticeRow[]>`
    select kind, address, user_agent, created_at from account_notices
    where user_id = ${user_id} order by id desc limit ${count}`;
}

export async function forgetNotices(sql: Sql | Tx): Promise<void> {
  await sql`delete from account_notices where created_at < clock_now() - interval '90 days'`;
}
