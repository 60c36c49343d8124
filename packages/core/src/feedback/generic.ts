import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import type { FeedbackPost, FeedbackProvider, FeedbackReport } from './provider.ts';

/** The header that a relay repeats in its feedback if it has no field of its own for that. */
export const REFERENCE_HEADER = 'X-Postrider-Ref';
const MAX_TEXT = 1000;
const MAX_ENTRIES = 500;

const text = z.string().max(MAX_TEXT);
const entry = z.object({
  type: z.enum(['bounced', 'complained', 'delayed', 'delivered']),
  recipient: text.optional(),
  ref: text.optional(),
  message_id: text.optional(),
  status: text.optional(),
  diagnostic: text.optional(),
});

/** Any relay, by Standard Webhooks: one report or an array of them, signed with a secret of ours. */
export const generic: FeedbackProvider = {
  header: (reference) => `${REFERENCE_HEADER}: ${reference}\r\n`,
  problemOf({ headers, body }, secret) {
    try {
      new Webhook(secret).verify(body, {
        'webhook-id': String(headers['webhook-id'] ?? ''),
        'webhook-timestamp': String(headers['webhook-timestamp'] ?? ''),
        'webhook-signature': String(headers['webhook-signature'] ?? ''),
      });
      return null;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  },
  read(post) {
    const reports = entriesOf(post).map((value, index) => reportOf(post, value, index));
    const readable = reports.filter((report) => report !== null);
    return { reports: readable, unread: reports.length - readable.length };
  },
};

function entriesOf({ body }: FeedbackPost): unknown[] {
  try {
    const value = JSON.parse(body.toString('utf8')) as unknown;
    return (Array.isArray(value) ? value : [value]).slice(0, MAX_ENTRIES);
  } catch {
    return [null];
  }
}

function reportOf({ headers }: FeedbackPost, value: unknown, index: number): FeedbackReport | null {
  const { data } = entry.safeParse(value);
  if (!data) return null;
  const { type: kind, recipient, ref: reference, status, diagnostic } = data;
  const message_id = data.message_id?.replace(/^<|>$/g, '');
  const event_id = `${String(headers['webhook-id']).slice(0, MAX_TEXT)}${index === 0 ? '' : `/${index}`}`;
  return { event_id, kind, facts: { recipient, reference, message_id, status, diagnostic } };
}
