import { createHash } from 'node:crypto';
import { z } from 'zod';
import { passwordProblem } from '../proofs.ts';
import type { FeedbackKind, FeedbackProvider } from '../provider.ts';
import { bareMessageId, readEntries } from '../read-json.ts';

const entry = z.object({
  event: z.string(),
  email: z.string(),
  'message-id': z.string().optional(),
  ts_epoch: z.union([z.number(), z.string()]).optional(),
  reason: z.string().optional(),
  'X-Mailin-custom': z.string().optional(),
});

const KINDS: Readonly<Record<string, FeedbackKind>> = {
  hard_bounce: 'bounced',
  soft_bounce: 'bounced',
  blocked: 'bounced',
  invalid_email: 'bounced',
  error: 'bounced',
  deferred: 'delayed',
  delivered: 'delivered',
  spam: 'complained',
};

/** Brevo gives its events no ID, and proves its posts by a bearer token or a password. */
export const brevo: FeedbackProvider = {
  host: /(?:^|\.)(?:brevo|sendinblue)\.com$/i,
  secret: 'ours',
  header: (reference) => `X-Mailin-custom: ${reference}\r\n`,
  problemOf: (post, secret) => passwordProblem(post, secret),
  read: (post) =>
    readEntries(post, (value) => {
      const { data } = entry.safeParse(value);
      if (!data) return undefined;
      const kind = KINDS[data.event];
      if (kind === undefined) return null;
      const message_id = bareMessageId(data['message-id']);
      const identity = [message_id, data.email, data.event, data.ts_epoch].join(' ');
      return {
        event_id: createHash('sha256').update(identity).digest('hex'),
        kind,
        facts: {
          recipient: data.email,
          reference: data['X-Mailin-custom'],
          message_id,
          diagnostic: data.reason,
          is_relay_suppressed: data.event === 'blocked',
          sorted_as: data.event === 'hard_bounce' || data.event === 'invalid_email' ? 'bad-mailbox' : undefined,
        },
      };
    }),
};
