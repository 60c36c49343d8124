import type { Sql, Tx } from '@postrider/db';
import type { Services } from '../operation/context.ts';
import { encryptSecret, newWebhookSecret, openSecret } from '../webhooks/index.ts';
import { readSecretPage, writeSecret } from './settings-store.ts';

const OVERLAP_SECONDS = 86_400;
const PAGE = 1000;

/** Creates the secret that signs an owner's webhook; an earlier one also signs for a day. */
export async function createSecret(
  { encryption }: Pick<Services, 'encryption'>,
  tx: Tx,
  workspace_id: string,
): Promise<string> {
  const secret = newWebhookSecret();
  await writeSecret(tx, workspace_id, {
    // Settings have no ID of their own; that of their workspace is never the ID of an endpoint.
    secret: encryptSecret(encryption, workspace_id, secret),
    last4: secret.slice(-4),
    overlap_seconds: OVERLAP_SECONDS,
  });
  return secret;
}

/** Returns the owners whose webhook secret cannot be decrypted with any of this process's keys. */
export async function unopenedAlarmSecrets({
  sql,
  encryption,
}: Pick<Services, 'encryption'> & { readonly sql: Sql }): Promise<string[]> {
  const unopened: string[] = [];
  for (let after: string | null | undefined = null; after !== undefined; ) {
    const rows = await readSecretPage(sql, after, PAGE);
    for (const { workspace_id, webhook_secret, webhook_previous_secret } of rows) {
      try {
        for (const encrypted of [webhook_secret, webhook_previous_secret])
          if (encrypted) openSecret(encryption, workspace_id, encrypted);
      } catch {
        unopened.push(workspace_id === '' ? 'instance alerts' : workspace_id);
      }
    }
    after = rows.length < PAGE ? undefined : rows.at(-1)?.workspace_id;
  }
  return unopened;
}
