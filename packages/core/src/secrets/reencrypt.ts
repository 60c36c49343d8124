import { encryptionPurpose } from '../domains/index.ts';
import { feedbackPurpose } from '../feedback/index.ts';
import type { Services } from '../operation/context.ts';
import { totpPurpose } from '../people/index.ts';
import { DecryptionError } from '../process/encryption.ts';
import { hashKeyPurpose } from '../suppressions/index.ts';
import { transportPurpose } from '../transports/index.ts';
import { webhookPurpose } from '../webhooks/index.ts';
import { countByKey, replaceSecret, type StoredSecret, secretsUnderOthers } from './store.ts';

type Parts = Pick<Services, 'sql' | 'encryption'>;

const BATCH = 100;

/** Counts the secrets encrypted under SECRET_KEY, under SECRET_KEY_PREVIOUS, and under neither. */
export async function countSecrets({ sql, encryption }: Parts) {
  const current = encryption.key_id.toString('hex');
  const known = new Set(encryption.known_key_ids.map((id) => id.toString('hex')));
  const counts = { current: 0, previous: 0, lost: 0 };
  for (const { key_id, count } of await countByKey(sql, encryption.key_id_at)) {
    if (key_id === current) counts.current += count;
    else if (known.has(key_id)) counts.previous += count;
    else counts.lost += count;
  }
  return counts;
}

/**
 * Prevents a start with a key that cannot decrypt the stored secrets: messages could not be signed and would only wait.
 */
export async function requireSecrets(parts: Parts): Promise<void> {
  const { lost } = await countSecrets(parts);
  if (lost === 0) return;
  throw new Error(
    `SECRET_KEY cannot decrypt ${lost} stored ${lost === 1 ? 'secret' : 'secrets'} (signing keys, transport passwords and feedback secrets, webhook secrets, secrets of authenticator apps, the key for hashes of erased addresses). ` +
      'Set SECRET_KEY to the one used with this database, or set that one as SECRET_KEY_PREVIOUS and a new SECRET_KEY.',
  );
}

/** Starts a job to re-encrypt the secrets still under the previous key, unless one is already running. */
export async function startReencryption({ sql, jobs, encryption }: Parts & Pick<Services, 'jobs'>): Promise<void> {
  const { previous } = await countSecrets({ sql, encryption });
  if (previous === 0) return;
  const key_id = encryption.key_id.toString('hex');
  if ((await jobs.liveAbout(sql, 'secrets.reencrypt', 'key_id', [key_id])).size > 0) return;
  await sql.begin((tx) => jobs.send(tx, 'secrets.reencrypt', [{ data: { key_id } }]));
  jobs.wakeAll('secrets.reencrypt');
}

/**
 * Re-encrypts secrets under SECRET_KEY_PREVIOUS with SECRET_KEY, one batch at a time; a repeated run continues with the
 * rest.
 */
export async function reencryptSecrets(
  { sql, encryption, log }: Parts & Pick<Services, 'log'>,
  { key_id }: { readonly key_id: string },
): Promise<void> {
  if (key_id !== encryption.key_id.toString('hex'))
    throw new Error('this process has another SECRET_KEY than the one that its secrets are to be encrypted under');
  const { previous } = await countSecrets({ sql, encryption });
  let done = 0;
  let lost = 0;
  for (let after: StoredSecret | null = null; ; ) {
    const batch: StoredSecret[] = await secretsUnderOthers(sql, encryption.key_id_at, encryption.key_id, after, BATCH);
    for (const secret of batch) {
      const plain = openOrNull({ encryption }, secret);
      if (plain === null) lost += 1;
      else await replaceSecret(sql, secret, encryption.encrypt(plain, purposeOf(secret)));
      plain?.fill(0);
    }
    done += batch.length;
    after = batch.at(-1) ?? null;
    if (after === null) break;
    log.info({ done, of: previous }, 're-encrypting secrets with SECRET_KEY');
  }
  if (lost > 0) throw new Error(`${lost} secrets are encrypted under a key that this process does not have`);
  log.info({ done }, 'all secrets are encrypted with SECRET_KEY');
}

function openOrNull({ encryption }: Pick<Services, 'encryption'>, secret: StoredSecret): Buffer | null {
  try {
    return encryption.decrypt(secret.encrypted, purposeOf(secret));
  } catch (error) {
    if (error instanceof DecryptionError) return null;
    throw error;
  }
}

function purposeOf({ kind, id }: StoredSecret): string {
  switch (kind) {
    case 'dkim':
      return encryptionPurpose(id);
    case 'feedback':
      return feedbackPurpose(id);
    case 'suppression_hash':
      return hashKeyPurpose(id);
    case 'totp':
    case 'totp_candidate':
      return totpPurpose(id);
    case 'transport':
      return transportPurpose(id);
    case 'alarm':
    case 'alarm_previous':
    case 'webhook':
    case 'webhook_previous':
      return webhookPurpose(id);
  }
}
