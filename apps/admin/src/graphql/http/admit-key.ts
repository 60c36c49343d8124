import {
  AppError,
  type Credential,
  type KeyActor,
  retryAfterHeader,
  type Services,
  type UserActor,
} from '@postrider/core';
import { hasScope, identify, refuseAddress } from '@postrider/core/api-keys';
import { admitBearer, readBearer, type SessionBearer } from '@postrider/core/people';
import { type Charged, chargeQuery, spenderOf } from '@postrider/core/usage';
import { bearerToken } from './bearer-token.ts';

interface Window {
  readonly limit: number;
  readonly remaining: number;
  readonly reset_unix: number;
}

export interface Admission {
  readonly actor: KeyActor | UserActor;
  readonly charged: Charged;
  readonly credential: Credential | SessionBearer;
}

type Rejection = { readonly error: AppError; readonly window: Window };

/** Authenticates the key and charges its cost budget in one statement, or in three for a session token. */
export async function admitKey(
  services: Services,
  authorization: string | undefined,
  address: string,
  points: number,
): Promise<Admission | Rejection> {
  const credential = readBearer(bearerToken(authorization), address);
  if (credential instanceof AppError) return refuseAddress(services, address, credential);
  const known =
    credential.kind === 'session'
      ? await identifySession(services, credential, points)
      : await identify(services, credential, points);
  if ('error' in known) return known;
  const { actor, charged } = known;
  if (hasScope(actor.scopes, 'admin') || hasScope(actor.scopes, 'operator')) return { actor, charged, credential };
  const message = 'GraphQL requires the admin or operator scope. Use a key that has it.';
  return { error: new AppError('missing_scope', message, { required_scope: 'admin' }), window: charged.window };
}

async function identifySession(
  services: Services,
  bearer: SessionBearer,
  points: number,
): Promise<{ readonly actor: UserActor; readonly charged: Charged } | Rejection> {
  const admission = await admitBearer(services, bearer);
  if ('error' in admission) return admission;
  const charged = await chargeQuery(services.sql, spenderOf(admission.actor), points);
  return 'error' in charged ? charged : { actor: admission.actor, charged };
}

export function rateHeaders({ limit, remaining, reset_unix }: Window) {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(reset_unix),
  };
}

/** Returns the rate limit headers of an error response, with Retry-After for a 429. */
export function refusalHeaders(error: AppError, window: Window, now_ms: number): Record<string, string> {
  return { ...rateHeaders(window), ...retryAfterHeader(error, now_ms) };
}
