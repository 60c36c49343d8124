import type { Sql, Tx } from '@postrider/db';

export interface UserRow {
  readonly id: string;
  readonly email: string;
  readonly password_hash: string | null;
  readonly operator: boolean;
}

export async function anyOperator(tx: Tx | Sql): Promise<boolean> {
  const [row] = await tx<{ found: boolean }[]>`select exists (select from users where operator) as found`;
  return row?.found ?? false;
}

/** Stores a person, or nothing where the e-mail address is known. */
export async function insertUser(tx: Tx | Sql, user: UserRow): Promise<boolean> {
  const rows = await tx`
    insert into users (id, email, password_hash, operator, created_at)
    values (${user.id}, ${user.email}, ${user.password_hash}, ${user.operator}, clock_now())
    on conflict (email) do nothing
    returning id`;
  return rows.length > 0;
}

export async function userByEmail(sql: Sql | Tx, email: string): Promise<UserRow | null> {
  const [row] = await sql<UserRow[]>`select id, email, password_hash, operator from users where email = ${email}`;
  return row ?? null;
}

export async function replacePasswordHash(sql: Sql | Tx, email: string, password_hash: string): Promise<boolean> {
  const rows = await sql`update users set password_hash = ${password_hash} where email = ${email} returning id`;
  return rows.length > 0;
}
