import { isoTime } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Scope } from './scopes.ts';
import type { KeyRow } from './store.ts';

export interface KeyEntry {
  readonly object: 'api_key';
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly last4: string;
  readonly scopes: readonly Scope[];
  readonly mode: 'live' | 'sandbox';
  readonly domains: readonly string[] | null;
  readonly allowed_ips: readonly string[] | null;
  readonly status: 'active' | 'revoked' | 'expired';
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

export function keyEntry(row: KeyRow): KeyEntry {
  const { id, name, prefix, last4, scopes, mode, domains, allowed_ips, status } = row;
  return {
    object: 'api_key',
    id,
    name,
    prefix,
    last4,
    scopes,
    mode,
    domains,
    allowed_ips,
    status,
    created_at: isoTime(row.created_at),
    expires_at: row.expires_at && isoTime(row.expires_at),
    last_used_at: row.last_used_at && isoTime(row.last_used_at),
    revoked_at: row.revoked_at && isoTime(row.revoked_at),
  };
}

export function keyNotFound(id: string): AppError {
  return new AppError(
    'api_key_not_found',
    `No API key ${id.slice(0, 64)} exists in this workspace; GET /api-keys lists them.`,
  );
}
