import type { Sql, Tx } from '@postrider/db';
import type { WorkspaceRole } from './roles.ts';

export interface UserRow {
  readonly id: string;
  readonly email: string;
  readonly password_hash: string | null;
  readonly operator: boolean;
  /** Whether an operator issued the user's last credential, so that no workspace admin has seen it. */
  readonly vouched: boolean;
}

export async function anyOperator(tx: Tx | Sql): Promise<boolean> {
  const [row] = await tx<{ found: boolean }[]>`select exists (select from users where operator) as found`;
  return row?.found ?? false;
}

/** Stores a user; returns false if the email address is taken. */
export async function insertUser(tx: Tx | Sql, user: UserRow): Promise<boolean> {
  const rows = await tx`
    insert into users (id, email, password_hash, operator, vouched, created_at)
    values (${user.id}, ${user.email}, ${user.password_hash}, ${user.operator}, ${user.vouched},
      clock_now())
    on conflict (email) do nothing
    returning id`;
  return rows.length > 0;
}

export async function userByEmail(sql: Sql | Tx, email: string): Promise<UserRow | null> {
  const [row] = await sql<
    UserRow[]
  >`select id, email, password_hash, operator, vouched from users where email = ${email}`;
  return row ?? null;
}

/** Returns a user, locked until the commit against changes of the password or the operator flag. */
export async function holdUser(tx: Tx, id: string): Promise<UserRow | null> {
  const [row] = await tx<UserRow[]>`
    select id, email, password_hash, operator, vouched from users where id = ${id} for share`;
  return row ?? null;
}

/** Returns a user, locked until the commit against every other change of the credential. */
export async function lockUser(tx: Tx, id: string): Promise<UserRow | null> {
  const [row] = await tx<UserRow[]>`
    select id, email, password_hash, operator, vouched from users where id = ${id} for no key update`;
  return row ?? null;
}

export async function replacePasswordHash(tx: Tx, id: string, password_hash: string | null): Promise<void> {
  await tx`update users set password_hash = ${password_hash} where id = ${id}`;
}

/** Sets a user's name; returns false if it is the same. */
export async function writeName(tx: Tx, id: string, name: string | null): Promise<boolean> {
  const rows = await tx`
    update users set name = ${name} where id = ${id} and name is distinct from ${name} returning id`;
  return rows.length > 0;
}

export async function readName(sql: Sql, id: string): Promise<string | null> {
  const [row] = await sql<{ name: string | null }[]>`select name from users where id = ${id}`;
  return row?.name ?? null;
}

/** Replaces a user's credential. */
export async function replaceEntry(
  tx: Tx,
  id: string,
  { password_hash, vouched }: Pick<UserRow, 'password_hash' | 'vouched'>,
): Promise<void> {
  await tx`update users set password_hash = ${password_hash}, vouched = ${vouched} where id = ${id}`;
}

export interface OperatorRow {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  readonly second_factor: boolean;
  readonly created_at: Date;
}

const hasFactor = (sql: Sql | Tx) => sql`
  exists (select from totp_factors f where f.user_id = u.id) as second_factor`;
const operatorColumns = (sql: Sql | Tx) => sql`u.id, u.email, u.name, u.created_at, ${hasFactor(sql)}`;

export async function readOperatorPage(sql: Sql, before: string | null, count: number): Promise<OperatorRow[]> {
  return sql<OperatorRow[]>`
    select ${operatorColumns(sql)} from users u
    where u.operator and (${before}::text is null or u.id < ${before}) order by u.id desc limit ${count}`;
}

/** Locks all operators, so that the second of two concurrent removals sees the first. */
export async function lockOperators(tx: Tx): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`select id from users where operator order by id for update`;
  return rows.map(({ id }) => id);
}

/** Makes a user an operator; returns null if the user already is one. */
export async function grantOperator(tx: Tx, id: string): Promise<OperatorRow | null> {
  const [row] = await tx<OperatorRow[]>`
    update users u set operator = true where u.id = ${id} and not u.operator returning ${operatorColumns(tx)}`;
  return row ?? null;
}

export async function revokeOperator(tx: Tx, id: string): Promise<void> {
  await tx`update users set operator = false where id = ${id}`;
}

export interface MemberRow {
  readonly workspace_id: string;
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  readonly role: WorkspaceRole;
  readonly operator: boolean;
  readonly second_factor: boolean;
  readonly created_at: Date;
}

const memberColumns = (sql: Sql | Tx) => sql`
  m.workspace_id, u.id, u.email, u.name, m.role, u.operator, m.created_at, ${hasFactor(sql)}`;

export async function readMemberPage(
  sql: Sql,
  workspace_id: string,
  before: string | null,
  count: number,
): Promise<MemberRow[]> {
  return sql<MemberRow[]>`
    select ${memberColumns(sql)} from members m join users u on u.id = m.user_id
    where m.workspace_id = ${workspace_id} and (${before}::text is null or m.user_id < ${before})
    order by m.user_id desc limit ${count}`;
}

export async function memberCountsOf(sql: Sql, workspace_ids: readonly string[]): Promise<Map<string, number>> {
  const rows = await sql<{ workspace_id: string; count: number }[]>`
    select workspace_id, count(*)::int as count from members
    where workspace_id = any (${[...workspace_ids]}::uuid[]) group by workspace_id`;
  return new Map(rows.map((row) => [row.workspace_id, row.count]));
}

/** Returns one member, locked until the commit. */
export async function lockMember(tx: Tx, workspace_id: string, user_id: string): Promise<MemberRow | null> {
  const [row] = await tx<MemberRow[]>`
    select ${memberColumns(tx)} from members m join users u on u.id = m.user_id
    where m.workspace_id = ${workspace_id} and m.user_id = ${user_id} for update of m`;
  return row ?? null;
}

/** Locks the admins of a workspace in id order, so that the second of two concurrent demotions sees the first. */
export async function lockAdmins(tx: Tx, workspace_id: string): Promise<string[]> {
  const rows = await tx<{ user_id: string }[]>`
    select user_id from members where workspace_id = ${workspace_id} and role = 'admin' order by user_id for update`;
  return rows.map(({ user_id }) => user_id);
}

/** Adds a member; returns null if the user already is one. */
export async function insertMember(
  tx: Tx,
  member: { readonly workspace_id: string; readonly user_id: string; readonly role: WorkspaceRole },
): Promise<boolean> {
  const rows = await tx`
    insert into members (workspace_id, user_id, role, created_at)
    values (${member.workspace_id}, ${member.user_id}, ${member.role}, clock_now())
    on conflict (workspace_id, user_id) do nothing
    returning user_id`;
  return rows.length > 0;
}

export async function updateRole(tx: Tx, workspace_id: string, user_id: string, role: WorkspaceRole): Promise<void> {
  await tx`update members set role = ${role} where workspace_id = ${workspace_id} and user_id = ${user_id}`;
}

export async function deleteMember(tx: Tx, workspace_id: string, user_id: string): Promise<void> {
  await tx`delete from members where workspace_id = ${workspace_id} and user_id = ${user_id}`;
}

/**
 * Makes the second of two transactions that admit the same address wait for the first, whose rows it then sees. A row
 * lock is not enough, because there may be no row yet.
 */
export async function lockEmail(tx: Tx, email: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`user ${email}`}, 0))`;
}

/**
 * Returns a user, locked until the commit, and whether they are a member of any workspace and of the given workspace.
 */
export async function lockKnown(
  tx: Tx,
  email: string,
  workspace_id: string,
): Promise<(UserRow & { readonly here: boolean; readonly somewhere: boolean }) | null> {
  const [row] = await tx<(UserRow & { here: boolean; somewhere: boolean })[]>`
    select u.id, u.email, u.password_hash, u.operator, u.vouched,
      exists (select from members m where m.user_id = u.id and m.workspace_id = ${workspace_id}) as here,
      exists (select from members m where m.user_id = u.id) as somewhere
    from users u where u.email = ${email} for update of u`;
  return row ?? null;
}

export async function workspaceExists(sql: Sql | Tx, id: string): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`select exists (select from workspaces where id = ${id}) as found`;
  return row?.found ?? false;
}

export interface AccessRow {
  readonly id: string;
  readonly name: string;
  readonly role: WorkspaceRole | null;
}

/** Returns the workspaces of a user, oldest first; all workspaces for an operator. */
export async function workspacesOf(
  sql: Sql | Tx,
  person: { readonly id: string; readonly operator: boolean },
  count: number,
): Promise<AccessRow[]> {
  if (person.operator) {
    return sql<AccessRow[]>`
      select w.id, w.name, m.role from workspaces w
      left join members m on m.workspace_id = w.id and m.user_id = ${person.id}
      order by w.id limit ${count}`;
  }
  return sql<AccessRow[]>`
    select w.id, w.name, m.role from members m join workspaces w on w.id = m.workspace_id
    where m.user_id = ${person.id} order by w.id limit ${count}`;
}

/** Returns one workspace as the user sees it; null without access. */
export async function workspaceFor(
  sql: Sql | Tx,
  person: { readonly id: string; readonly operator: boolean },
  workspace_id: string,
): Promise<AccessRow | null> {
  const [row] = await sql<AccessRow[]>`
    select w.id, w.name, m.role from workspaces w
    left join members m on m.workspace_id = w.id and m.user_id = ${person.id}
    where w.id = ${workspace_id} and (${person.operator} or m.role is not null)`;
  return row ?? null;
}
