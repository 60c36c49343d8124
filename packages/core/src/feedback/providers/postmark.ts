import { z } from 'zod';
import { passwordProblem } from '../proofs.ts';
import type { FeedbackKind, FeedbackProvider } from '../provider.ts';
import { readEntries } from '../read-json.ts';

const entry = z.object({
  RecordType: z.string(),
  ID: z.union([z.number(), z.string()]).optional(),
  Type: z.string().optional(),
  MessageID: z.string().optional(),
  Email: z.string().optional(),
  Recipient: z.string().optional(),
  Details: z.string().optional(),
  Description: z.string().optional(),
  Metadata: z.record(z.string(), z.string()).optional(),
});
type Entry = z.output<typeof entry>;

const RETRYING: ReadonlySet<string> = new Set(['Transient', 'DnsError']);
const IGNORED: ReadonlySet<string> = new Set([
  'AutoResponder',
  'AddressChange',
  'ChallengeVerification',
  'OpenRelayTest',
  'Subscribe',
  'Unsubscribe',
]);
const SORTED: Readonly<Record<string, string>> = {
  HardBounce: 'bad-mailbox',
  BadEmailAddress: 'bad-mailbox',
  Blocked: 'policy-related',
  DMARCPolicy: 'policy-related',
  SpamNotification: 'spam-related',
  VirusNotification: 'virus-related',
};

/** Postmark signs nothing: the proof is the password of HTTP basic authentication. */
export const postmark: FeedbackProvider = {
  host: /(?:^|\.)postmarkapp\.com$/i,
  secret: 'ours',
  header: (reference) => `X-PM-Metadata-postrider: ${reference}\r\n`,
  problemOf: (post, secret) => passwordProblem(post, secret),
  read: (post) =>
    readEntries(post, (value) => {
      const { data } = entry.safeParse(value);
      if (!data) return undefined;
      const kind = kindOf(data);
      if (kind === null) return null;
      const recipient = data.Recipient ?? data.Email;
      const id = data.ID ?? `${data.MessageID} ${recipient}`;
      return {
        event_id: `${data.RecordType} ${id}`,
        kind,
        facts: {
          recipient,
          reference: data.Metadata?.postrider,
          diagnostic: kind === 'delivered' ? undefined : (data.Details ?? data.Description),
          sorted_as: SORTED[data.Type ?? ''],
          is_relay_suppressed: data.Type === 'SMTPApiError',
        },
      };
    }),
};

function kindOf({ RecordType, Type = '' }: Entry): FeedbackKind | null {
  if (RecordType === 'Delivery') return 'delivered';
  if (RecordType === 'SpamComplaint') return 'complained';
  if (RecordType !== 'Bounce' || IGNORED.has(Type)) return null;
  if (Type === 'SpamComplaint') return 'complained';
  return RETRYING.has(Type) ? 'delayed' : 'bounced';
}
