import { z } from 'zod';
import { headerOf, standardProblem } from '../proofs.ts';
import type { FeedbackKind, FeedbackProvider } from '../provider.ts';
import { readEntries } from '../read-json.ts';
import { REFERENCE_HEADER } from './generic.ts';

const entry = z.object({
  type: z.string(),
  data: z.object({
    to: z.array(z.string()).optional(),
    headers: z.array(z.object({ name: z.string(), value: z.string() })).optional(),
    bounce: z.object({ message: z.string().optional() }).optional(),
  }),
});

const KINDS: Readonly<Record<string, FeedbackKind>> = {
  'email.bounced': 'bounced',
  'email.failed': 'bounced',
  'email.suppressed': 'bounced',
  'email.complained': 'complained',
  'email.delivery_delayed': 'delayed',
  'email.delivered': 'delivered',
};

/** Resend signs through Svix. It does not say which recipient it means, but repeats our header. */
export const resend: FeedbackProvider = {
  host: /(?:^|\.)resend\.com$/i,
  secret: 'theirs',
  header: (reference) => `${REFERENCE_HEADER}: ${reference}\r\n`,
  problemOf: (post, secret) => standardProblem(post, secret, 'svix'),
  read: (post) =>
    readEntries(post, (value) => {
      const { data: event } = entry.safeParse(value);
      if (!event) return undefined;
      const kind = KINDS[event.type];
      if (kind === undefined) return null;
      const { to = [], headers = [], bounce } = event.data;
      return {
        event_id: headerOf(post, 'svix-id'),
        kind,
        facts: {
          recipient: to.length === 1 ? to[0] : undefined,
          reference: headers.find(({ name }) => name.toLowerCase() === REFERENCE_HEADER.toLowerCase())?.value,
          diagnostic: bounce?.message,
          is_relay_suppressed: event.type === 'email.suppressed',
        },
      };
    }),
};
