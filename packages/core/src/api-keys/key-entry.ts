import { z } from 'zod';
import { isoTime } from '../clock.ts';
import { AppError } from '../errors.ts';
import { idPrefixes } from '../ids.ts';
import { idField, timeField } from '../wire.ts';
import { scopes } from './scopes.ts';
import { keyModes } from './secret.ts';
import type { KeyRow } from './store.ts';

export const keySchema = z.object({
  object: z.literal('api_key'),
  id: idField(idPrefixes.api_key),
  name: z.string(),
  prefix: z.string(),
  last4: z.string(),
  scopes: z.array(z.enum(scopes)).readonly(),
  mode: z.enum(keyModes),
  domains: z.array(z.string()).readonly().nullable(),
  allowed_ips: z.array(z.string()).readonly().nullable(),
  status: z.enum(['active', 'revoked', 'expired']),
  created_at: timeField,
  expires_at: timeField.nullable(),
  last_used_at: timeField.nullable(),
  revoked_at: timeField.nullable(),
});
export type KeyEntry = z.output<typeof keySchema>;

export function keyEntry(row: KeyRow): KeyEntry {
  const { id, name, prefix, last4, mode, domains, allowed_ips, status } = row;
  return {
    object: 'api_key',
    id,
    name,
    prefix,
    last4,
    scopes: row.scopes,
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
