import { z } from 'zod';
import { ecdsaProblem, headerOf } from '../proofs.ts';
import type { FeedbackKind, FeedbackProvider } from '../provider.ts';
import { bareMessageId, readEntries } from '../read-json.ts';

const entry = z.object({
  event: z.string(),
  email: z.string(),
  sg_event_id: z.string(),
  'smtp-id': z.string().optional(),
  postrider: z.string().optional(),
  status: z.string().optional(),
  reason: z.string().optional(),
  response: z.string().optional(),
});

const KINDS: Readonly<Record<string, FeedbackKind>> = {
  bounce: 'bounced',
  dropped: 'bounced',
  deferred: 'delayed',
  delivered: 'delivered',
  spamreport: 'complained',
};

/** SendGrid signs its posts with a key whose public half it shows. */
export const sendgrid: FeedbackProvider = {
  host: /(?:^|\.)sendgrid\.net$/i,
  secret: 'theirs',
  header: (reference) => `X-SMTPAPI: ${JSON.stringify({ unique_args: { postrider: reference } })}\r\n`,
  problemOf: (post, key, { now_ms }) =>
    ecdsaProblem(
      post,
      key,
      {
        signature: headerOf(post, 'x-twilio-email-event-webhook-signature'),
        timestamp: headerOf(post, 'x-twilio-email-event-webhook-timestamp'),
      },
      now_ms,
    ),
  read: (post) =>
    readEntries(post, (value) => {
      const { data } = entry.safeParse(value);
      if (!data) return undefined;
      const kind = KINDS[data.event];
      if (kind === undefined) return null;
      return {
        event_id: data.sg_event_id,
        kind,
        facts: {
          recipient: data.email,
          reference: data.postrider,
          message_id: bareMessageId(data['smtp-id']),
          status: data.status,
          diagnostic: data.reason ?? data.response,
          is_relay_suppressed: data.event === 'dropped',
        },
      };
    }),
};
