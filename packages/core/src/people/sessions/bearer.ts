import { randomBytes } from 'node:crypto';
import { readCredential, refuseAddress } from '../../api-keys/index.ts';
import type { Credential, Services, UserActor } from '../../operation/context.ts';
import { AppError } from '../../operation/errors.ts';
import { countCalls, type RateWindow } from '../../usage/index.ts';
import { userActor } from './find-session.ts';
import { liveSessionByToken } from './session-store.ts';
import { hashToken } from './token.ts';

const PREFIX = 'pr_sess_';

export function newBearer(): string {
  return PREFIX + randomBytes(32).toString('hex');
}

/** An unchecked bearer token of a session. */
export interface SessionBearer {
  readonly kind: 'session';
  readonly secret_hash: Buffer;
  readonly address: string;
}

/** Parses an Authorization header into an API key or the bearer token of a session, without checking either. */
export function readBearer(token: string | null, address: string): Credential | SessionBearer | AppError {
  if (!token?.startsWith(PREFIX)) return readCredential(token, address);
  return { kind: 'session', secret_hash: hashToken(token), address };
}

/** Returns the user of a bearer token, or null if it is not currently valid. */
export async function findBearer(
  services: Pick<Services, 'sql'>,
  { secret_hash }: SessionBearer,
): Promise<UserActor | null> {
  const row = await liveSessionByToken(services.sql, secret_hash);
  return row && userActor(row);
}

/** Checks a bearer token and counts the request in the rate window of its session. */
export async function admitBearer(
  services: Pick<Services, 'sql' | 'address_counter'>,
  bearer: SessionBearer,
): Promise<
  { readonly actor: UserActor; readonly window: RateWindow } | { readonly error: AppError; readonly window: RateWindow }
> {
  const actor = await findBearer(services, bearer);
  if (!actor) {
    const error = new AppError('session_ended', 'This token or its session has expired. Get a new one.');
    return refuseAddress(services, bearer.address, error);
  }
  const { window, refusal } = await countCalls(services, actor, 1);
  return refusal ? { error: refusal, window } : { actor, window };
}
