import { z } from 'zod';
import { headerOf, standardProblem } from '../proofs.ts';
import type { FeedbackProvider } from '../provider.ts';
import { bareMessageId, readEntries } from '../read-json.ts';

/** The header that a relay repeats in its feedback if it has no field of its own for that. */
export const REFERENCE_HEADER = 'X-Postrider-Ref';
const MAX_TEXT = 1000;

const text = z.string().max(MAX_TEXT);
const entry = z
  .object({
    type: z.enum(['bounced', 'complained', 'delayed', 'delivered']),
    recipient: text.optional(),
    ref: text.optional(),
    message_id: text.optional(),
    status: text.optional(),
    diagnostic: text.optional(),
  })
  // Nothing else names an email.
  .refine(
    ({ ref, message_id, recipient }) => ref !== undefined || (message_id !== undefined && recipient !== undefined),
  );

/** Any relay, by Standard Webhooks. */
export const generic: FeedbackProvider = {
  secret: 'ours',
  header: (reference) => `${REFERENCE_HEADER}: ${reference}\r\n`,
  problemOf: (post, secret) => standardProblem(post, secret, 'webhook'),
  read: (post) =>
    readEntries(post, (value, index) => {
      const { data } = entry.safeParse(value);
      if (!data) return undefined;
      const { type: kind, recipient, ref: reference, status, diagnostic } = data;
      const id = headerOf(post, 'webhook-id').slice(0, MAX_TEXT);
      return {
        event_id: index === 0 ? id : `${id}/${index}`,
        kind,
        facts: { recipient, reference, message_id: bareMessageId(data.message_id), status, diagnostic },
      };
    }),
};
