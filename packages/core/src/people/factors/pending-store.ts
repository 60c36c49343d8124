import type { Sql, Tx } from '@postrider/db';

const MAX_PENDING = 10;

export interface PendingRow {
  readonly user_id: string;
  readonly by_link: boolean;
}

/** Stores a sign-in that lacks the code. If the person has too many, it replaces the oldest one. */
export async function insertPending(tx: Tx, token_hash: Buffer, { user_id, by_link }: PendingRow): Promise<void> {
  await tx`
    delete from pending_sign_ins where token_hash in (
      select token_hash from pending_sign_ins where user_id = ${user_id}
      order by created_at desc, token_hash offset ${MAX_PENDING - 1})`;
  await tx`
    insert into pending_sign_ins (token_hash, user_id, by_link, created_at)
    values (${token_hash}, ${user_id}, ${by_link}, clock_now())`;
}

const isOpen = (sql: Sql | Tx) => sql`created_at > clock_now() - interval '10 minutes'`;

export async function readPending(sql: Sql | Tx, token_hash: Buffer): Promise<PendingRow | null> {
  const [row] = await sql<PendingRow[]>`
    select user_id, by_link from pending_sign_ins where token_hash = ${token_hash} and ${isOpen(sql)}`;
  return row ?? null;
}

/** Ends a pending sign-in; only one of several concurrent callers gets true. */
export async function takePending(tx: Tx, token_hash: Buffer): Promise<boolean> {
  const rows = await tx`
    delete from pending_sign_ins where token_hash = ${token_hash} and ${isOpen(tx)} returning user_id`;
  return rows.length > 0;
}

export async function forgetPending(sql: Sql | Tx): Promise<void> {
  await sql`delete from pending_sign_ins where not ${isOpen(sql)}`;
}
