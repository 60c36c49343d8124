import type { Sql } from '@postrider/db';

/**
 * Secrets that are encrypted at rest: private DKIM keys, transport passwords, secrets of webhooks, of alert webhooks and of
 * authenticator apps, and the key that hashes erased addresses.
 */
export interface StoredSecret {
  readonly kind:
    | 'alarm'
    | 'alarm_previous'
    | 'dkim'
    | 'feedback'
    | 'suppression_hash'
    | 'totp'
    | 'totp_candidate'
    | 'transport'
    | 'webhook'
    | 'webhook_previous';
  readonly id: string;
  readonly encrypted: Buffer;
}

const NO_ID = '00000000-0000-0000-0000-000000000000';

const everySecret = (sql: Sql) => sql`
  select 'dkim' as kind, id, encrypted_private_key as encrypted from dkim_keys
  union all select 'alarm', workspace_id, webhook_secret from alarm_settings where webhook_secret is not null
  union all select 'alarm_previous', workspace_id, webhook_previous_secret from alarm_settings
    where webhook_previous_secret is not null
  union all select 'suppression_hash', id, encrypted_key from suppression_hash_keys
  union all select 'totp', user_id, secret from totp_factors
  union all select 'totp_candidate', user_id, secret from totp_candidates
  union all select 'transport', id, password from transports where password is not null
  union all select 'feedback', transport_id, secrets from transport_feedback
  union all select 'webhook', id, secret from webhooks
  union all select 'webhook_previous', id, previous_secret from webhooks where previous_secret is not null`;

/** Counts the secrets encrypted under each key. Reads all of them; there are only a few per domain, webhook and user. */
export async function countByKey(
  sql: Sql,
  { from, bytes }: { readonly from: number; readonly bytes: number },
): Promise<{ readonly key_id: string; readonly count: number }[]> {
  return sql<{ key_id: string; count: number }[]>`
    select encode(substring(s.encrypted from ${from + 1}::int for ${bytes}::int), 'hex') as key_id, count(*)::int as count
    from (${everySecret(sql)}) s group by 1 order by 1`;
}

/** Returns the next secrets after a position that are not encrypted under a given key. */
export async function secretsUnderOthers(
  sql: Sql,
  { from, bytes }: { readonly from: number; readonly bytes: number },
  key_id: Buffer,
  after: Pick<StoredSecret, 'kind' | 'id'> | null,
  count: number,
): Promise<StoredSecret[]> {
  return sql<StoredSecret[]>`
    select s.kind, s.id, s.encrypted from (${everySecret(sql)}) s
    where substring(s.encrypted from ${from + 1}::int for ${bytes}::int) <> decode(${key_id.toString('hex')}, 'hex')
      and (s.kind, s.id) > (${after?.kind ?? ''}::text, ${after?.id ?? NO_ID}::uuid)
    order by s.kind, s.id limit ${count}`;
}

/** Replaces a secret unless it has changed since it was read. */
export async function replaceSecret(sql: Sql, { kind, id, encrypted }: StoredSecret, fresh: Buffer): Promise<void> {
  const [was, is] = [encrypted.toString('hex'), fresh.toString('hex')];
  switch (kind) {
    case 'alarm':
      await sql`
        update alarm_settings set webhook_secret = decode(${is}, 'hex')
        where workspace_id = ${id} and webhook_secret = decode(${was}, 'hex')`;
      return;
    case 'alarm_previous':
      await sql`
        update alarm_settings set webhook_previous_secret = decode(${is}, 'hex')
        where workspace_id = ${id} and webhook_previous_secret = decode(${was}, 'hex')`;
      return;
    case 'dkim':
      await sql`
        update dkim_keys set encrypted_private_key = decode(${is}, 'hex')
        where id = ${id} and encrypted_private_key = decode(${was}, 'hex')`;
      return;
    case 'feedback':
      await sql`
        update transport_feedback set secrets = decode(${is}, 'hex')
        where transport_id = ${id} and secrets = decode(${was}, 'hex')`;
      return;
    case 'suppression_hash':
      await sql`
        update suppression_hash_keys set encrypted_key = decode(${is}, 'hex')
        where id = ${id} and encrypted_key = decode(${was}, 'hex')`;
      return;
    case 'totp':
      await sql`
        update totp_factors set secret = decode(${is}, 'hex')
        where user_id = ${id} and secret = decode(${was}, 'hex')`;
      return;
    case 'totp_candidate':
      await sql`
        update totp_candidates set secret = decode(${is}, 'hex')
        where user_id = ${id} and secret = decode(${was}, 'hex')`;
      return;
    case 'transport':
      await sql`
        update transports set password = decode(${is}, 'hex')
        where id = ${id} and password = decode(${was}, 'hex')`;
      return;
    case 'webhook':
      await sql`
        update webhooks set secret = decode(${is}, 'hex') where id = ${id} and secret = decode(${was}, 'hex')`;
      return;
    case 'webhook_previous':
      await sql`
        update webhooks set previous_secret = decode(${is}, 'hex')
        where id = ${id} and previous_secret = decode(${was}, 'hex')`;
  }
}
