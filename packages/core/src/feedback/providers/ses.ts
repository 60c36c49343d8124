import { z } from 'zod';
import type { FeedbackFacts, FeedbackKind, FeedbackProvider, FeedbackReport } from '../provider.ts';
import { bareMessageId } from '../read-json.ts';
import { SNS_TOPIC, snsConfirmation, snsEnvelope, snsProblem, snsWarning } from '../sns.ts';
import { REFERENCE_HEADER } from './generic.ts';

const recipientEntry = z.object({
  emailAddress: z.string(),
  status: z.string().optional(),
  diagnosticCode: z.string().optional(),
});
const notification = z.object({
  // Notifications of an identity name the type differently from events of a configuration set.
  notificationType: z.string().optional(),
  eventType: z.string().optional(),
  mail: z.object({
    messageId: z.string(),
    destination: z.array(z.string()).default([]),
    headers: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
    commonHeaders: z.object({ messageId: z.string().optional() }).optional(),
  }),
  bounce: z
    .object({
      bounceType: z.string(),
      bounceSubType: z.string().optional(),
      bouncedRecipients: z.array(recipientEntry),
    })
    .optional(),
  complaint: z
    .object({
      complainedRecipients: z.array(recipientEntry),
      complaintFeedbackType: z.string().nullish(),
      complaintSubType: z.string().nullish(),
    })
    .optional(),
  delivery: z.object({ recipients: z.array(z.string()) }).optional(),
  deliveryDelay: z.object({ delayedRecipients: z.array(recipientEntry) }).optional(),
  reject: z.object({ reason: z.string().optional() }).optional(),
});
type Notification = z.output<typeof notification>;
type Change = Pick<FeedbackReport, 'kind'> & { readonly facts: FeedbackFacts };

/** SES did not try, because the address is on its own suppression list or that of the account. */
const SUPPRESSED: ReadonlySet<string> = new Set(['Suppressed', 'OnAccountSuppressionList']);
const SORTED: Readonly<Record<string, string>> = {
  'Permanent General': 'bad-mailbox',
  'Permanent NoEmail': 'bad-mailbox',
  'Transient MailboxFull': 'quota-issues',
  'Transient MessageTooLarge': 'content-related',
  'Transient ContentRejected': 'content-related',
  'Transient AttachmentRejected': 'content-related',
};

/** Amazon SES reports through a topic of SNS, whose ARN takes the place of a secret. */
export const ses: FeedbackProvider = {
  host: /^email-smtp[\w.-]*\.amazonaws\.com(?:\.cn)?$/i,
  secret: 'theirs',
  secretProblem: (arn) => (SNS_TOPIC.test(arn) ? null : 'Enter the ARN of the SNS topic. It begins with arn:aws:sns.'),
  header: (reference) => `${REFERENCE_HEADER}: ${reference}\r\n`,
  // "250 Ok 0107018f…-000000" is the messageId of its notifications, which leave out headers unless told otherwise.
  relay_id: /^Ok ([\w-]{20,200})$/,
  problemOf: snsProblem,
  confirmationOf: snsConfirmation,
  warningOf: snsWarning,
  read(post) {
    const envelope = snsEnvelope(post);
    if (envelope?.Type !== 'Notification') return { reports: [], unread: 0 };
    const content = objectIn(envelope.Message);
    // SES greets a new topic with a sentence.
    if (content === null) return { reports: [], unread: 0 };
    const { data } = notification.safeParse(content);
    if (!data) return { reports: [], unread: 1 };
    const reports = changesIn(data).map(({ kind, facts }) => ({
      event_id: `${envelope.MessageId} ${facts.recipient}`,
      kind,
      facts: { ...identityOf(data), ...facts },
    }));
    return { reports, unread: 0 };
  },
};

function changesIn({ mail, bounce, complaint, delivery, deliveryDelay, reject, ...types }: Notification): Change[] {
  switch (types.notificationType ?? types.eventType) {
    case 'Bounce': {
      const { bounceType = '', bounceSubType = '', bouncedRecipients = [] } = bounce ?? {};
      return bouncedRecipients.map((recipient) =>
        changeOf('bounced', recipient, {
          sorted_as: SORTED[`${bounceType} ${bounceSubType}`],
          is_relay_suppressed: SUPPRESSED.has(bounceSubType),
        }),
      );
    }
    case 'Complaint': {
      const { complainedRecipients = [], complaintFeedbackType, complaintSubType } = complaint ?? {};
      if (complaintFeedbackType === 'not-spam') return [];
      return SUPPRESSED.has(complaintSubType ?? '')
        ? complainedRecipients.map((recipient) => changeOf('bounced', recipient, { is_relay_suppressed: true }))
        : complainedRecipients.map((recipient) => changeOf('complained', recipient));
    }
    case 'Delivery':
      return (delivery?.recipients ?? []).map((emailAddress) => changeOf('delivered', { emailAddress }));
    case 'DeliveryDelay':
      return (deliveryDelay?.delayedRecipients ?? []).map((recipient) => changeOf('delayed', recipient));
    case 'Reject':
      return mail.destination.map((emailAddress) =>
        changeOf(
          'bounced',
          { emailAddress, diagnosticCode: reject?.reason ?? 'rejected' },
          { sorted_as: 'virus-related' },
        ),
      );
    default:
      return [];
  }
}

function changeOf(
  kind: FeedbackKind,
  { emailAddress, status, diagnosticCode }: z.output<typeof recipientEntry>,
  more: Partial<FeedbackFacts> = {},
): Change {
  return { kind, facts: { recipient: bareAddress(emailAddress), status, diagnostic: diagnosticCode, ...more } };
}

function identityOf({ mail }: Notification): FeedbackFacts {
  const reference = mail.headers.find(({ name }) => name.toLowerCase() === REFERENCE_HEADER.toLowerCase());
  return {
    reference: reference?.value,
    relay_id: mail.messageId,
    message_id: bareMessageId(mail.commonHeaders?.messageId),
  };
}

/** SES repeats the name of a recipient that a report by email named. */
function bareAddress(text: string): string {
  return /<([^<>]+)>\s*$/.exec(text)?.[1] ?? text;
}

function objectIn(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
