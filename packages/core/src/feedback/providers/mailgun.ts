import { z } from 'zod';
import { tokenProblem } from '../proofs.ts';
import type { FeedbackKind, FeedbackPost, FeedbackProvider } from '../provider.ts';
import { bareMessageId, readEntries } from '../read-json.ts';

const entry = z.object({
  signature: z.object({ timestamp: z.string(), token: z.string(), signature: z.string() }),
  'event-data': z.object({
    id: z.string(),
    event: z.string(),
    severity: z.string().optional(),
    reason: z.string().optional(),
    recipient: z.string().optional(),
    'delivery-status': z
      .object({ code: z.number().optional(), message: z.string().optional(), description: z.string().optional() })
      .optional(),
    message: z.object({ headers: z.record(z.string(), z.unknown()) }).optional(),
    'user-variables': z.record(z.string(), z.unknown()).optional(),
  }),
});
type EventData = z.output<typeof entry>['event-data'];

/** Mailgun signs a token, and not the body. The token is the ID of the event here. */
export const mailgun: FeedbackProvider = {
  host: /(?:^|\.)mailgun\.org$/i,
  secret: 'theirs',
  signs_only_id: true,
  header: (reference) => `X-Mailgun-Variables: ${JSON.stringify({ postrider: reference })}\r\n`,
  problemOf(post, key, { now_ms }) {
    const { data } = entry.safeParse(bodyOf(post));
    return data ? tokenProblem(key, data.signature, now_ms) : 'The body has no signature.';
  },
  read: (post) =>
    readEntries(post, (value) => {
      const { data } = entry.safeParse(value);
      if (!data) return undefined;
      const event = data['event-data'];
      const kind = kindOf(event);
      if (kind === null) return null;
      const { 'delivery-status': status, 'user-variables': variables = {}, message } = event;
      const reference = variables.postrider;
      const message_id = message?.headers['message-id'];
      return {
        event_id: data.signature.token,
        kind,
        facts: {
          recipient: event.recipient,
          reference: typeof reference === 'string' ? reference : undefined,
          is_relay_suppressed: event.reason?.startsWith('suppress-'),
          message_id: typeof message_id === 'string' ? bareMessageId(message_id) : undefined,
          diagnostic: [status?.code, status?.message ?? status?.description].filter(Boolean).join(' ') || undefined,
        },
      };
    }),
};

function kindOf({ event, severity }: EventData): FeedbackKind | null {
  if (event === 'failed') return severity === 'temporary' ? 'delayed' : 'bounced';
  if (event === 'complained' || event === 'delivered') return event;
  return null;
}

function bodyOf({ body }: FeedbackPost): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return null;
  }
}
