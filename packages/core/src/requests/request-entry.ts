import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes, idTime } from '../fields/ids.ts';
import { idField, timeField } from '../fields/wire.ts';
import { AppError } from '../operation/errors.ts';
import type { RequestRow } from './store.ts';

const faultSchema = z.object({
  pointer: z.string().meta({ description: 'The field as a JSON pointer.', examples: ['/to/3'] }),
  reason: z.string(),
  message: z.string(),
});

export const requestSchema = z
  .object({
    object: z.literal('request'),
    id: idField(idPrefixes.request),
    at: timeField,
    api: z.enum(['rest', 'trpc']),
    method: z.string(),
    path: z.string().meta({ description: 'The route without IDs and addresses.', examples: ['/email/send'] }),
    status: z.int(),
    code: z.string(),
    reason: z.string(),
    message: z.string().meta({ description: 'With masked addresses.' }),
    api_key_id: idField(idPrefixes.api_key).nullable(),
    user_id: idField(idPrefixes.user).nullable(),
    duration_ms: z.int(),
    faults: z.array(faultSchema).readonly(),
    body: z.unknown().meta({
      description:
        'The request body, up to 4 kB, with addresses masked and content omitted; null if there was no body.',
    }),
  })
  .meta({ id: 'RequestLogEntry' });
export type RequestEntry = z.output<typeof requestSchema>;

export function requestEntry(row: RequestRow): RequestEntry {
  const { id, method, path, status, code, reason, message, api_key_id, user_id, duration_ms } = row;
  return {
    object: 'request',
    id,
    at: isoTime(idTime(id)),
    api: row.api === 'trpc' ? 'trpc' : 'rest',
    method,
    path,
    status,
    code,
    reason,
    message,
    api_key_id,
    user_id,
    duration_ms,
    // The casts hold because the request log writes both columns with JSON.stringify.
    faults: JSON.parse(row.details) as RequestEntry['faults'],
    body: row.body === null ? null : (JSON.parse(row.body) as unknown),
  };
}

export function requestNotFound(id: string): AppError {
  return new AppError(
    'request_not_found',
    `No rejected or failed request with ID ${id.slice(0, 64)}. Accepted email is in GET /v1/email/logs.`,
  );
}
