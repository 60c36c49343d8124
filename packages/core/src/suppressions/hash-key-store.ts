import { randomBytes, randomUUID } from 'node:crypto';
import { fence, type Sql, type Tx } from '@postrider/db';
import type { Encryption } from '../process/encryption.ts';
import { stillSuppressed } from './in-force-store.ts';

const KEY_BYTES = 32;

export const hashKeyPurpose = (id: string) => `key of the suppression hash ${id}`;

/**
 * Creates the random key that hashes erased addresses, if there is none. It is not derived from SECRET_KEY, so a
 * rotation leaves the hashes valid. The caller holds the provisioning lock, so only one process creates it.
 */
export async function ensureHashKey(tx: Tx, encryption: Encryption): Promise<void> {
  const id = randomUUID();
  const key = randomBytes(KEY_BYTES);
  const encrypted = encryption.encrypt(key, hashKeyPurpose(id)).toString('hex');
  key.fill(0);
  await tx`
    insert into suppression_hash_keys (id, encrypted_key, created_at)
    select ${id}::uuid, decode(${encrypted}, 'hex'), clock_now()
    where not exists (select from suppression_hash_keys)`;
}

export async function readHashKey(sql: Sql | Tx): Promise<{ readonly id: string; readonly encrypted_key: Buffer }> {
  const [row] = await sql<{ id: string; encrypted_key: Buffer }[]>`
    select id, encrypted_key from suppression_hash_keys order by created_at limit 1`;
  if (!row) throw new Error('the key that hashes erased addresses is missing; a start of the server makes it');
  return row;
}

/**
 * Replaces the suppression of an address with a suppression of its hash; returns whether the address was suppressed.
 */
export async function hashSuppression(tx: Tx, workspace_id: string, email: string, hashed: string): Promise<boolean> {
  const rows = await tx`
    with gone as (
      delete from suppressions s where s.workspace_id = ${workspace_id} and s.email = suppression_key(${email})
      returning s.*
    )
    insert into suppressions (workspace_id, id, email, source, reason, source_event_id, created_at, expires_at)
    select workspace_id, id, ${hashed}::text, source, null, source_event_id, created_at, expires_at from gone
    on conflict (workspace_id, email) do update set source = excluded.source, expires_at = excluded.expires_at
    returning id`;
  if (rows.length > 0) await tx`update suppression_hash_keys set in_use = true where not in_use`;
  return rows.length > 0;
}

/** Returns the suppressions stored under hashes of addresses, by workspace and hash. */
export async function hashedSuppressions(
  sql: Sql,
  pairs: readonly { readonly workspace_id: string; readonly hashed: string }[],
): Promise<Map<string, string>> {
  const rows = await sql<{ workspace_id: string; email: string; id: string }[]>`
    select s.workspace_id, s.email, s.id from unnest(
      ${pairs.map((one) => one.workspace_id)}::uuid[],
      ${pairs.map((one) => one.hashed)}::text[]
    ) as a (workspace_id, email)
    cross join lateral (
      select * from suppressions x where x.workspace_id = a.workspace_id and x.email = a.email ${fence}
    ) s
    where ${stillSuppressed(sql)}`;
  return new Map(rows.map((row) => [`${row.workspace_id} ${row.email}`, row.id]));
}
