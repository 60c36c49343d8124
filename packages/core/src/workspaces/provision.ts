import { insertKey } from '../api-keys/index.ts';
import { type DkimPairs, generateDkimPairs, insertProvenDomain } from '../domains/index.ts';
import { newId } from '../fields/ids.ts';
import type { Services } from '../operation/context.ts';
import { scopes } from '../operation/scopes.ts';
import { newSecret } from '../operation/secrets.ts';
import { anyOperator, hashPassword, insertUser, newPassword } from '../people/index.ts';
import { createEncryption } from '../process/encryption.ts';
import { ensureHashKey } from '../suppressions/index.ts';
import { newKeyRow } from './first-key.ts';
import { SANDBOX_DOMAIN } from './sandbox.ts';
import { insertWorkspace, oldestWorkspace, takeProvisioningTurn } from './store.ts';

const DEFAULT_ADMIN = 'admin@sandbox.test';

/** The result of provisioning. The secrets appear only here. */
export interface ProvisionResult {
  readonly api_key: string | null;
  readonly operator: { readonly email: string; readonly password: string | null } | null;
}

/** Creates the first workspace, its sandbox domain, a key with every scope and the first operator, each only once. */
export async function provision(
  services: Pick<Services, 'sql' | 'clock' | 'config' | 'secret_key'>,
  makePairs: () => Promise<DkimPairs> = generateDkimPairs,
): Promise<ProvisionResult> {
  const { config, clock, sql } = services;
  const password = config.ADMIN_PASSWORD ?? newPassword();
  // Hashing takes a while and 128 MiB, so it happens outside the transaction, and only if needed.
  const password_hash = (await anyOperator(sql)) ? null : await hashPassword(password);
  const pairs = (await oldestWorkspace(sql)) === null ? await makePairs() : null;
  return sql.begin(async (tx) => {
    await takeProvisioningTurn(tx);
    const encryption = createEncryption(services.secret_key, config.SECRET_KEY_PREVIOUS);
    await ensureHashKey(tx, encryption);
    const now_ms = clock.now();
    let workspace_id = await oldestWorkspace(tx);
    let secret: string | null = null;
    if (workspace_id === null) {
      if (pairs === null) throw new Error('the workspace was deleted while this process started');
      workspace_id = newId('workspace', now_ms);
      await insertWorkspace(tx, { id: workspace_id, name: 'Default', plan: 'business' });
      await insertProvenDomain(tx, encryption, { workspace_id, name: SANDBOX_DOMAIN, sandbox: true }, pairs, now_ms);
      secret = config.BOOTSTRAP_API_KEY ? null : newSecret('live');
    }
    const bootstrap_key = config.BOOTSTRAP_API_KEY ?? secret;
    const stored =
      bootstrap_key === null
        ? null
        : await insertKey(tx, newKeyRow({ workspace_id, scopes, now_ms, secret: bootstrap_key }).row);
    let operator: ProvisionResult['operator'] = null;
    if (password_hash !== null && !(await anyOperator(tx))) {
      const email = config.ADMIN_EMAIL ?? DEFAULT_ADMIN;
      await insertUser(tx, { id: newId('user', now_ms), email, password_hash, operator: true, vouched: true });
      operator = { email, password: config.ADMIN_PASSWORD ? null : password };
    }
    // A secret from the environment is already known and must not appear in a container's output.
    return { api_key: stored ? secret : null, operator };
  });
}
