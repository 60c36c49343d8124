import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import { AppError } from '../operation/errors.ts';
import { suppressionSources } from './source.ts';
import type { SuppressionRow } from './store.ts';

export const suppressionSchema = z
  .object({
    object: objectName('suppression'),
    id: idField(idPrefixes.suppression),
    email: z.string().meta({
      description: 'Lowercase; matching is case-insensitive.',
      examples: ['ada@example.com'],
    }),
    reason: z.string().nullable().meta({ description: 'The server response, or the reason from the request.' }),
    source: z.enum(suppressionSources).meta({ description: 'How the address was added.' }),
    source_event_id: idField(idPrefixes.event).nullable().meta({ description: 'The event that caused it.' }),
    created_at: timeField.meta({ description: 'When the address was added.' }),
    expires_at: timeField.nullable().meta({ description: 'When it expires; null: never.' }),
  })
  .meta({ id: 'Suppression' });
export type SuppressionEntry = z.output<typeof suppressionSchema>;

export function suppressionEntry(row: SuppressionRow): SuppressionEntry {
  const { id, email, reason, source, source_event_id, created_at, expires_at } = row;
  return {
    object: 'suppression',
    id,
    email,
    reason,
    source,
    source_event_id,
    created_at: isoTime(created_at),
    expires_at: expires_at && isoTime(expires_at),
  };
}

export function suppressionNotFound(address: string): AppError {
  return new AppError(
    'suppression_not_found',
    `${address.slice(0, 320)} is not suppressed in this workspace. List suppressions with GET /v1/suppressions.`,
  );
}
