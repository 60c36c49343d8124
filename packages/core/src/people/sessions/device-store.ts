import type { Sql, Tx } from '@postrider/db';

const MAX_DEVICES = 20;

/** Returns whether the user with that email has signed in on the device. */
export async function isKnownDevice(sql: Sql, token_hash: Buffer, email: string): Promise<boolean> {
  const rows = await sql`
    select from devices d join users u on u.id = d.user_id where d.token_hash = ${token_hash} and u.email = ${email}`;
  return rows.length > 0;
}

/** Returns whether a user has signed in on any device that is still known. */
export async function hasDevices(tx: Tx, user_id: string): Promise<boolean> {
  const rows = await tx`select from devices where user_id = ${user_id} limit 1`;
  return rows.length > 0;
}

/** Records a use of the device; returns false if the user has not signed in on it before. */
export async function noteDeviceUse(tx: Tx, token_hash: Buffer, user_id: string): Promise<boolean> {
  const rows = await tx`
    update devices set last_used_at = clock_now() where token_hash = ${token_hash} and user_id = ${user_id} returning 1`;
  return rows.length > 0;
}

/** Stores a device. If the user has too many, it replaces the least recently used one. */
export async function insertDevice(tx: Tx, token_hash: Buffer, user_id: string): Promise<void> {
  await tx`
    delete from devices where token_hash in (
      select token_hash from devices where user_id = ${user_id} order by last_used_at desc offset ${MAX_DEVICES - 1})`;
  await tx`
    insert into devices (token_hash, user_id, created_at, last_used_at)
    values (${token_hash}, ${user_id}, clock_now(), clock_now())`;
}
