import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, timeField } from '../fields/wire.ts';
import { AppError } from '../operation/errors.ts';
import { suppressionSources } from './source.ts';
import type { SuppressionRow } from './store.ts';

export const suppressionSchema = z
  .object({
    object: z.literal('suppression'),
    id: idField(idPrefixes.suppression),
    email: z.string().meta({
      description: 'In lower case; it matches the address in any case.',
      examples: ['ada@example.com'],
    }),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'For people: the reply of the server, or the reason of the request.' }),
    source: z.enum(suppressionSources).meta({ description: 'What put the address on the list.' }),
    source_event_id: idField(idPrefixes.event).nullable().meta({ description: 'The event that was the cause.' }),
    created_at: timeField,
    expires_at: timeField.nullable().meta({ description: 'When it ends by itself; null: never.' }),
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

export function suppressionNotFound(named: string): AppError {
  return new AppError(
    'suppression_not_found',
    `${named.slice(0, 320)} is not on the suppression list of this workspace; GET /v1/suppressions lists it.`,
  );
}
