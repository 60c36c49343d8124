import type { Credential, KeyActor, Services } from '../operation/context.ts';
import { AppError, type Reason } from '../operation/errors.ts';
import type { RateWindow } from '../operation/ports.ts';
import { hashSecret, looksLikeSecret } from '../operation/secrets.ts';
import {
  budgetRefusal,
  type Charged,
  chargeOf,
  judgeRate,
  type KeyRateClass,
  rateRefusal,
  windowOf,
} from '../usage/index.ts';
import { admitKeys, type IdentifiedKey, identifyKey, refusalOf } from './store.ts';

const messages: Partial<Record<Reason, string>> = {
  missing_key: 'Send the header Authorization: Bearer <API key>.',
  malformed_key:
    'The Authorization header must be Bearer followed by one key, pr_live_ or pr_test_ with 64 hex digits.',
  unknown_key: 'This API key does not exist. Check that you copied all of it.',
  revoked_key: 'This API key was revoked. Create a new one.',
  expired_key: 'This API key has expired. Create a new one.',
  address_not_allowed: 'This API key cannot be used from this IP address. Add the address to its allowed_ips.',
};

export function keyRefusal(reason: Reason): AppError {
  return new AppError(reason, messages[reason] ?? 'The API key is not accepted.');
}

/** Returns the unchecked credential of a received secret; null if none was sent. */
export function readCredential(secret: string | null, address: string): Credential | AppError {
  if (secret === null) return keyRefusal('missing_key');
  if (!looksLikeSecret(secret)) return keyRefusal('malformed_key');
  return { kind: 'credential', secret_hash: hashSecret(secret), address };
}

export type Authentication = { readonly actor: KeyActor; readonly window: RateWindow };
export type Rejection = {
  readonly error: AppError;
  readonly window: RateWindow;
  /** The actor whose window is used up. */
  readonly actor?: KeyActor;
};

function keyActor(key: IdentifiedKey): KeyActor {
  const { workspace_id, key_id, scopes, mode, domains } = key;
  return { kind: 'key', workspace_id, key_id, scopes, mode, domains };
}

/** Checks a secret and counts its request in one round trip; a rejected one counts against the client address. */
export async function authenticate(
  services: Services,
  credential: Credential,
  rateClass: KeyRateClass,
): Promise<Authentication | Rejection> {
  const { secret_hash, address } = credential;
  const [response] = await admitKeys(services.sql, rateClass, [{ secret_hash, address, wanted: 1 }]);
  if (response?.kind !== 'found')
    return refuseAddress(services, address, keyRefusal(response?.reason ?? 'unknown_key'));
  const { window, refusal } = judgeRate(rateClass, response.first);
  if (refusal) return { error: refusal, window, actor: keyActor(response.key) };
  services.key_uses.note(response.key.key_id);
  return { actor: keyActor(response.key), window };
}

/** Checks a secret for an API with a points budget, and deducts the points. */
export async function identify(
  services: Pick<Services, 'sql' | 'key_uses' | 'address_counter'>,
  credential: Credential,
  points: number,
): Promise<{ readonly actor: KeyActor; readonly charged: Charged } | Rejection> {
  const identity = await identifyKey(services.sql, credential, points);
  if (typeof identity === 'string') return refuseAddress(services, credential.address, keyRefusal(identity));
  if (!identity.budget.taken) return budgetRefusal(identity.budget, points);
  const refusal = identity.workspace && rateRefusal('workspace', identity.workspace);
  if (identity.workspace && refusal) return { error: refusal, window: windowOf(identity.workspace) };
  services.key_uses.note(identity.key.key_id);
  return { actor: keyActor(identity.key), charged: chargeOf(identity.budget) };
}

/** Checks whether a secret is a valid key now, without counting a request. Runs before a large body is read. */
export async function checkKey(services: Pick<Services, 'sql'>, credential: Credential): Promise<AppError | null> {
  const reason = await refusalOf(services.sql, credential);
  return reason && keyRefusal(reason);
}

/** Counts a request without a valid key against its client address; rejects it past the limit. */
export async function refuseAddress(
  { address_counter }: Pick<Services, 'address_counter'>,
  address: string,
  fallback: AppError,
): Promise<Rejection> {
  const window_count = await address_counter.count(address);
  return { error: rateRefusal('address', window_count) ?? fallback, window: windowOf(window_count) };
}

/** Counts a request for a public document against its client address. */
export async function countPublic(
  { address_counter }: Pick<Services, 'address_counter'>,
  address: string,
): Promise<{ readonly window: RateWindow } | Rejection> {
  const window_count = await address_counter.count(address);
  const error = rateRefusal('address', window_count);
  const window = windowOf(window_count);
  return error ? { error, window } : { window };
}
