import type { Sql, Tx } from '@postrider/db';

/** Stores the reset link of a person; an earlier one stops working. */
export async function replaceReset(tx: Tx, user_id: string, token_hash: Buffer): Promise<void> {
  await tx`
    insert into password_resets (user_id, token_hash, expires_at)
    values (${user_id}, ${token_hash}, clock_now() + interval '1 hour')
    on conflict (user_id) do update
    set token_hash = excluded.token_hash, expires_at = excluded.expires_at, used_at = null`;
}

export async function resetOwner(tx: Tx, token_hash: Buffer): Promise<string | null> {
  const [row] = await tx<{ user_id: string }[]>`
    select user_id from password_resets where token_hash = ${token_hash}`;
  return row?.user_id ?? null;
}

export async function isResetOpen(sql: Sql, token_hash: Buffer): Promise<boolean> {
  const rows = await sql`
    select from password_resets
    where token_hash = ${token_hash} and used_at is null and expires_at > clock_now()`;
  return rows.length > 0;
}

/** Uses up a reset link; returns false if it was used, replaced or has expired. */
export async function takeReset(tx: Tx, token_hash: Buffer): Promise<boolean> {
  const rows = await tx`
    update password_resets set used_at = clock_now()
    where token_hash = ${token_hash} and used_at is null and expires_at > clock_now() returning user_id`;
  return rows.length > 0;
}

export async function forgetResets(sql: Sql | Tx): Promise<void> {
  await sql`delete from password_resets where expires_at < clock_now() - interval '1 day'`;
}
