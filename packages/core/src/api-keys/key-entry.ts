import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import { AppError } from '../operation/errors.ts';
import { scopes } from '../operation/scopes.ts';
import { keyModes } from '../operation/secrets.ts';
import type { KeyRow } from './store.ts';

export const scopeField = z.enum(scopes).meta({ id: 'Scope', description: 'A permission of an API key.' });

export const keyStatuses = ['active', 'revoked', 'expired'] as const;

export const keySchema = z
  .object({
    object: objectName('api_key'),
    id: idField(idPrefixes.api_key),
    name: z.string().meta({ description: 'Name for your team. Not unique.' }),
    prefix: z.string().meta({ description: 'First characters of the secret.', examples: ['pr_live_'] }),
    last4: z.string().meta({ description: 'Last characters of the secret.' }),
    scopes: z.array(scopeField).readonly().meta({ description: 'The permissions of the key.' }),
    mode: z
      .enum(keyModes)
      .meta({ description: 'Email from sandbox keys goes to the simulator and does not count toward the quota.' }),
    domains: z
      .array(z.string())
      .readonly()
      .nullable()
      .meta({ description: 'Domains allowed in the from address. null: any.' }),
    allowed_ips: z
      .array(z.string())
      .readonly()
      .nullable()
      .meta({ description: 'Client IP addresses and networks allowed to use the key. null: any.' }),
    status: z.enum(keyStatuses).meta({ description: 'Only active keys are accepted.' }),
    created_at: timeField.meta({ description: 'When the key was created.' }),
    expires_at: timeField.nullable().meta({ description: 'When it expires. null: never.' }),
    last_used_at: timeField.nullable().meta({ description: 'When it was last used, to the minute. null: never.' }),
    revoked_at: timeField.nullable().meta({ description: 'When it was revoked. null: not revoked.' }),
    replaced_by: idField(idPrefixes.api_key).nullable().meta({ description: 'The key that replaced it on rotation.' }),
  })
  .meta({ id: 'ApiKey' });
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
    replaced_by: row.replaced_by,
  };
}

/** Returns the audit details of a created key. */
export function keyFacts({ name, last4, scopes, mode, domains, allowed_ips, expires_at }: KeyRow) {
  return { name, last4, scopes, mode, domains, allowed_ips, expires_at };
}

export function keyNotFound(id: string): AppError {
  return new AppError(
    'api_key_not_found',
    `No API key with ID ${id.slice(0, 64)} in this workspace. List keys with GET /v1/api-keys.`,
  );
}
