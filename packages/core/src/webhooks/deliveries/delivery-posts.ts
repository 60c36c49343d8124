import { cleanRemoteText } from '@postrider/net';
import { z } from 'zod';
import { isoTime } from '../../fields/clock.ts';
import { timeField } from '../../fields/wire.ts';
import type { WebhookAttemptRow } from './attempt-store.ts';
import type { WebhookDeliveryRow } from './delivery-store.ts';

const MAX_HEADERS = 40;
const MAX_HEADER_LENGTH = 300;
/** Response headers that only the client that made the request should store. */
const SECRET_HEADERS: ReadonlySet<string> = new Set(['set-cookie', 'set-cookie2', 'www-authenticate', 'authorization']);

const headersField = z.record(z.string(), z.string()).nullable();

export const webhookPostSchema = z
  .object({
    number: z.int().meta({ description: '1 for the first attempt since the delivery started or was replayed.' }),
    at: timeField.meta({ description: 'When the request was sent.' }),
    duration_ms: z.int().nullable().meta({ description: 'Duration in milliseconds. null: no request was sent.' }),
    request_headers: headersField.meta({
      description: 'As sent, including the signature; null if the first attempt succeeded.',
    }),
    response_status: z.int().nullable().meta({ description: 'null: no response.' }),
    response_headers: headersField.meta({ description: 'Without cookies; null if the first attempt succeeded.' }),
    response_body: z.string().nullable().meta({ description: 'The first kilobyte.' }),
    error: z.string().nullable().meta({ description: 'Why there was no response. null: there was one.' }),
  })
  .meta({ id: 'WebhookPost' });
export type WebhookPost = z.output<typeof webhookPostSchema>;

/** Returns all stored attempts of a delivery, oldest first. */
export function postsOf(row: WebhookDeliveryRow, attempts: readonly WebhookAttemptRow[]): WebhookPost[] {
  // A first attempt that succeeded is stored only on the delivery, as is any success recorded by the previous release.
  const newest = attempts.at(-1);
  const is_kept = newest?.number === row.attempt_count && newest.at.getTime() === row.last_attempt_at?.getTime();
  const last =
    row.state === 'delivered' && row.last_attempt_at !== null && !is_kept
      ? [
          {
            number: row.attempt_count,
            at: row.last_attempt_at,
            duration_ms: row.duration_ms,
            request_headers: null,
            response_status: row.response_status,
            response_headers: null,
            response_body: row.response_body,
            error: null,
          },
        ]
      : [];
  return [...attempts, ...last].map((one) => ({
    number: one.number,
    at: isoTime(one.at.getTime() - (one.duration_ms ?? 0)),
    duration_ms: one.duration_ms,
    request_headers: headersOf(one.request_headers),
    response_status: one.response_status,
    response_headers: headersOf(one.response_headers),
    response_body: one.response_body,
    error: one.error,
  }));
}

/** The cast is safe because the text was serialized from the sent headers or from the result of shownHeaders. */
function headersOf(text: string | null): Record<string, string> | null {
  return text === null ? null : (JSON.parse(text) as Record<string, string>);
}

/** Returns the response headers that may be stored and shown. */
export function shownHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const visible_headers = Object.entries(headers)
    .filter(([name, value]) => value !== undefined && !SECRET_HEADERS.has(name.toLowerCase()))
    .slice(0, MAX_HEADERS);
  return Object.fromEntries(
    visible_headers.map(([name, value]) => [
      cleanRemoteText(name).slice(0, MAX_HEADER_LENGTH),
      cleanRemoteText([value].flat().join(', ')).slice(0, MAX_HEADER_LENGTH),
    ]),
  );
}
