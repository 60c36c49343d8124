import type { NewKeyRow } from '../api-keys/index.ts';
import { newId } from '../fields/ids.ts';
import type { Scope } from '../operation/scopes.ts';
import { hashSecret, newSecret } from '../operation/secrets.ts';

/** Creates the first live key of a workspace and its secret, which is not stored. */
export function newKeyRow({
  workspace_id,
  scopes,
  now_ms,
  secret = newSecret('live'),
}: {
  readonly workspace_id: string;
  readonly scopes: readonly Scope[];
  readonly now_ms: number;
  readonly secret?: string;
}): { readonly row: NewKeyRow; readonly secret: string } {
  return {
    secret,
    row: {
      workspace_id,
      id: newId('api_key', now_ms),
      name: 'First key',
      secret_hash: hashSecret(secret),
      prefix: secret.slice(0, secret.lastIndexOf('_') + 1),
      last4: secret.slice(-4),
      scopes,
      mode: 'live',
      domains: null,
      allowed_ips: null,
      expires_at: null,
    },
  };
}
