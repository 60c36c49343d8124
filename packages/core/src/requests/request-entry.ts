import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes, idTime } from '../fields/ids.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import { AppError } from '../operation/errors.ts';
import type { RequestRow } from './store.ts';

const faultSchema = z.object({
  pointer: z.string().meta({ description: 'The field as a JSON pointer.', examples: ['/to/3'] }),
  reason: z.string().meta({ description: 'The reason for this field.' }),
  message: z.string().meta({ description: 'With masked addresses.' }),
});

export const requestSchema = z
  .object({
    object: objectName('request'),
    id: idField(idPrefixes.request),
    at: timeField.meta({ description: 'When the request was made.' }),
    api: z.enum(['rest', 'trpc']).meta({ description: 'trpc: the API of the dashboard.' }),
    method: z.string().meta({ description: 'HTTP method.' }),
    path: z.string().meta({ description: 'The route without IDs and addresses.', examples: ['/email/send'] }),
    status: z.int().meta({ description: 'HTTP status of the response.' }),
    code: z.string().meta({ description: 'The error code of the response.' }),
    reason: z.string().meta({ description: 'The error reason of the response.' }),
    message: z.string().meta({ description: 'With masked addresses.' }),
    api_key_id: idField(idPrefixes.api_key).nullable().meta({ description: 'The API key of the request. null: none.' }),
    user_id: idField(idPrefixes.user).nullable().meta({ description: 'The signed-in user. null: none.' }),
    duration_ms: z.int().meta({ description: 'Time to the response, in milliseconds.' }),
    faults: z.array(faultSchema).readonly().meta({ description: 'The invalid fields.' }),
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
