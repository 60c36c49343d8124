import type { Fragment, Sql, Tx } from '@postrider/db';
import { forgetCandidates } from '../factors/factor-store.ts';
import { forgetPending } from '../factors/pending-store.ts';
import { factorDueAt } from '../factors/policy-store.ts';
import { forgetNotices } from '../notices/notice-store.ts';
import type { WorkspaceRole } from '../roles.ts';

export interface SessionRow {
  readonly id: string;
  readonly user_id: string;
  readonly email: string;
  readonly operator: boolean;
  /** Null if the workspace does not exist. */
  readonly workspace_id: string | null;
  readonly role: WorkspaceRole | null;
  /** Whether a policy requires a second factor by now, which the user does not have. */
  readonly factor_due: boolean;
  /** Whether the last recorded use is old enough to record another. */
  readonly note_due: boolean;
}

/** Returns the live session of a cookie's token, in the given workspace or in its default one. */
export function liveSession(sql: Sql, token_hash: Buffer, workspace_id: string | null): Promise<SessionRow | null> {
  return live(sql, sql`s.token_hash = ${token_hash}`, sql`coalesce(${workspace_id}::uuid, s.workspace_id)`);
}

export function liveSessionById(sql: Sql, id: string, workspace_id: string): Promise<SessionRow | null> {
  return live(sql, sql`s.id = ${id}`, sql`${workspace_id}::uuid`);
}

/** Returns the live session for which a bearer token was created, in the workspace of the token. */
export function liveSessionByToken(sql: Sql, token_hash: Buffer): Promise<SessionRow | null> {
  const token = sql`from session_tokens t where t.token_hash = ${token_hash} and t.expires_at > clock_now()`;
  return live(
    sql,
    sql`s.id = (select t.session_id ${token})`,
    sql`coalesce((select t.workspace_id ${token}), s.workspace_id)`,
  );
}

/**
 * Returns a session that has been idle for less than 12 hours and is less than 7 days old, with its user's access to a
 * workspace.
 */
async function live(sql: Sql, condition: Fragment, workspace_id: Fragment): Promise<SessionRow | null> {
  const [row] = await sql<SessionRow[]>`
    select s.id, s.user_id, u.email, u.operator, w.id as workspace_id, m.role,
      coalesce(${factorDueAt(sql)} <= clock_now(), false) as factor_due,
      s.last_used_at < clock_now() - interval '1 minute' as note_due
    from sessions s
    join users u on u.id = s.user_id
    left join workspaces w on w.id = ${workspace_id}
    left join members m on m.workspace_id = w.id and m.user_id = s.user_id
    where ${condition} and ${isLive(sql)}`;
  return row ?? null;
}

const isLive = (sql: Sql) => sql`
  s.last_used_at > clock_now() - interval '12 hours'
  and s.created_at > clock_now() - interval '7 days'`;

/** Stores a bearer token of a session; returns null if the session has ended. */
export async function insertSessionToken(
  tx: Tx,
  token: {
    readonly session_id: string;
    readonly workspace_id: string;
    readonly token_hash: Buffer;
    readonly seconds: number;
  },
): Promise<Date | null> {
  const [row] = await tx<{ expires_at: Date }[]>`
    insert into session_tokens (token_hash, session_id, workspace_id, expires_at)
    select ${token.token_hash}, s.id, ${token.workspace_id}, clock_now() + make_interval(secs => ${token.seconds})
    from sessions s where s.id = ${token.session_id}
    returning expires_at`;
  return row?.expires_at ?? null;
}

export async function noteSessionUse(sql: Sql, id: string): Promise<void> {
  await sql`update sessions set last_used_at = clock_now() where id = ${id}`;
}

export async function insertSession(
  tx: Tx,
  session: {
    readonly id: string;
    readonly token_hash: Buffer;
    readonly user_id: string;
    readonly workspace_id: string;
    readonly by_link: boolean;
    readonly address?: string;
    readonly user_agent?: string | null;
  },
): Promise<void> {
  await tx`
    insert into sessions (id, token_hash, user_id, workspace_id, by_link, address, user_agent, created_at, last_used_at,
      authenticated_at)
    values (${session.id}, ${session.token_hash}, ${session.user_id}, ${session.workspace_id}, ${session.by_link},
      ${session.address ?? null}, ${session.user_agent ?? null}, clock_now(), clock_now(), clock_now())`;
}

export interface OwnSessionRow {
  readonly id: string;
  readonly by_link: boolean;
  /** Null: started before addresses were stored. */
  readonly address: string | null;
  readonly user_agent: string | null;
  readonly created_at: Date;
  readonly last_used_at: Date;
}

/** Returns the live sessions of a user, the most recently used first. Served by sessions_of_user. */
export async function sessionsOf(sql: Sql, user_id: string, count: number): Promise<OwnSessionRow[]> {
  return sql<OwnSessionRow[]>`
    select s.id, s.by_link, s.address, s.user_agent, s.created_at, s.last_used_at from sessions s
    where s.user_id = ${user_id} and ${isLive(sql)}
    order by s.last_used_at desc, s.id desc limit ${count}`;
}

/** Deletes a session of a user; returns false if the user has none with this ID. */
export async function deleteOwnSession(tx: Tx, user_id: string, id: string): Promise<boolean> {
  const rows = await tx`delete from sessions where id = ${id} and user_id = ${user_id} returning id`;
  return rows.length > 0;
}

/** Deletes all sessions of a user but one; returns their number. */
export async function deleteOtherSessions(tx: Tx, user_id: string, id: string): Promise<number> {
  const rows = await tx`delete from sessions where user_id = ${user_id} and id <> ${id} returning id`;
  return rows.length;
}

/**
 * Marks a session as fresh under a new token; returns null if it has ended or the password has changed in the meantime.
 * Its bearer tokens are revoked, because someone with a copy of the old cookie may have obtained them.
 */
export async function renewProof(
  tx: Tx,
  session: { readonly id: string; readonly token_hash: Buffer; readonly password_hash: string | null },
): Promise<Date | null> {
  const [row] = await tx<{ until: Date }[]>`
    update sessions s set authenticated_at = clock_now(), token_hash = ${session.token_hash} from users u
    where s.id = ${session.id} and u.id = s.user_id and u.password_hash = ${session.password_hash}
    returning s.authenticated_at + interval '1 hour' as until`;
  await tx`delete from session_tokens where session_id = ${session.id}`;
  return row?.until ?? null;
}

export async function deleteSession(tx: Tx, id: string): Promise<void> {
  await tx`delete from sessions where id = ${id}`;
}

/** Deletes the session of a token without checking whose it is. */
export async function deleteSessionOf(tx: Tx, token_hash: Buffer): Promise<void> {
  await tx`delete from sessions where token_hash = ${token_hash}`;
}

export async function moveSession(tx: Tx, id: string, workspace_id: string): Promise<void> {
  await tx`update sessions set workspace_id = ${workspace_id} where id = ${id}`;
}

/**
 * Deletes a user's sessions, pending sign-ins, login links, unused reset links and known devices; returns the number of
 * sessions.
 */
export async function endSessions(tx: Tx, user_id: string): Promise<number> {
  await tx`delete from devices where user_id = ${user_id}`;
  await tx`delete from login_links where user_id = ${user_id}`;
  await tx`delete from password_resets where user_id = ${user_id} and used_at is null`;
  await tx`delete from pending_sign_ins where user_id = ${user_id}`;
  const rows = await tx`delete from sessions where user_id = ${user_id} returning id`;
  return rows.length;
}

/** Moves a user's sessions to the user's oldest remaining workspace, or ends them if the user has no workspace left. */
export async function moveSessionsFrom(tx: Tx, workspace_id: string, user_id: string): Promise<void> {
  await tx`
    update sessions s set workspace_id = w.id from (
      select coalesce(
        (select min(m.workspace_id::text)::uuid from members m where m.user_id = ${user_id}),
        (select ${workspace_id}::uuid from users u where u.id = ${user_id} and u.operator)) as id) w
    where s.user_id = ${user_id} and s.workspace_id = ${workspace_id} and w.id is not null`;
  await tx`
    delete from sessions s where s.user_id = ${user_id}
      and not exists (select from users u where u.id = s.user_id and u.operator)
      and not exists (select from members m where m.user_id = s.user_id)`;
}

/** Locks the user of a session, provided the session is still live and the password is still the confirmed one. */
export async function lockProven(
  tx: Tx,
  session: { readonly id: string; readonly user_id: string; readonly password_hash: string | null },
): Promise<boolean> {
  const rows = await tx`
    select 1 from users u where u.id = ${session.user_id} and u.password_hash is not distinct from ${session.password_hash}
      and exists (select from sessions s where s.id = ${session.id}) for update of u`;
  return rows.length > 0;
}

/**
 * Returns the proof that a password change requires: the current password, unless the session started with a fresh
 * login link.
 */
export async function readSessionProof(
  sql: Sql,
  id: string,
): Promise<{ password_hash: string | null; fresh_link: boolean } | null> {
  const [row] = await sql<{ password_hash: string | null; fresh_link: boolean }[]>`
    select u.password_hash, s.by_link and s.created_at > clock_now() - interval '15 minutes' as fresh_link
    from sessions s join users u on u.id = s.user_id where s.id = ${id}`;
  return row ?? null;
}

export async function insertLink(tx: Tx, token_hash: Buffer, user_id: string): Promise<Date> {
  const [row] = await tx<{ expires_at: Date }[]>`
    insert into login_links (token_hash, user_id, expires_at)
    values (${token_hash}, ${user_id}, clock_now() + interval '15 minutes')
    returning expires_at`;
  if (!row) throw new Error('a login link was not stored');
  return row.expires_at;
}

export async function readLinkOwner(tx: Tx, token_hash: Buffer): Promise<string | null> {
  const [row] = await tx<{ user_id: string }[]>`
    select user_id from login_links where token_hash = ${token_hash} and expires_at > clock_now()`;
  return row?.user_id ?? null;
}

/** Consumes a login link; only one of several concurrent callers gets true. */
export async function takeLink(tx: Tx, token_hash: Buffer): Promise<boolean> {
  const rows = await tx`
    delete from login_links where token_hash = ${token_hash} and expires_at > clock_now() returning user_id`;
  return rows.length > 0;
}

export async function forgetSessions(sql: Sql | Tx): Promise<void> {
  await sql`
    delete from sessions
    where last_used_at < clock_now() - interval '12 hours' or created_at < clock_now() - interval '7 days'`;
  await sql`delete from session_tokens where expires_at < clock_now()`;
  await sql`delete from login_links where expires_at < clock_now()`;
  await forgetPending(sql);
  await forgetCandidates(sql);
  await forgetNotices(sql);
  await sql`delete from devices where last_used_at < clock_now() - interval '180 days'`;
}
