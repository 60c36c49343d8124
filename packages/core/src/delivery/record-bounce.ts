import { type ReportedRecipient, type ReturnedMail, readReply } from '@postrider/mail';
import { newId } from '../fields/ids.ts';
import type { Services } from '../operation/context.ts';
import { addSuppressions, type SuppressionSource } from '../suppressions/index.ts';
import { type Classification, classify } from './classify.ts';
import type { ReturnPath } from './return-path.ts';
import { findReturnedTo, type ReturnedTo, transition } from './store.ts';

/** The result of a mail returned to one of our envelope senders. */
export type RecordedReturn =
  | { readonly kind: 'bounced' | 'complained' }
  | { readonly kind: 'ignored'; readonly why: string }
  /** The delivery is still being recorded: the report has to be delivered again. */
  | { readonly kind: 'later' };

// RFC 5965 section 7.3 and its registry. not-spam is the opposite of a complaint, and auth-failure (RFC 6591) does not
// come from a reader.
const COMPLAINTS: readonly string[] = ['abuse', 'fraud', 'virus', 'opt-out', 'opt-out-list'];

/** The change that a returned mail asks for, if any. */
type Finding =
  | { readonly transition: 'bounce'; readonly report: ReportedRecipient; readonly alone: boolean }
  | { readonly transition: 'complain'; readonly feedback_type: string }
  | { readonly transition: null; readonly why: string };

/**
 * Records a returned mail. The signed address proves the recipient; recipients named in the report are not trusted.
 * Only a delivered recipient changes, so a repeated report changes nothing. If the recipient is being sent to, the
 * report may have overtaken our own record and has to come again. If it waits for a retry, it keeps that: the next
 * reply is as good as the report.
 */
export async function recordReturned(
  services: Services,
  path: ReturnPath,
  mail: ReturnedMail,
): Promise<RecordedReturn> {
  const finding = find(mail);
  if (finding.transition === null) return { kind: 'ignored', why: finding.why };
  return services.sql.begin(async (tx): Promise<RecordedReturn> => {
    const recipient = await findReturnedTo(tx, path);
    if (!recipient) return { kind: 'ignored', why: 'the message is no longer stored' };
    if (recipient.state === 'sending') return { kind: 'later' };
    const now_ms = services.clock.now();
    const event_id = newId('event', now_ms);
    const { move, suppress } = meaningOf(finding, recipient);
    const [moved] = await transition(tx, finding.transition, [{ ...keyOf(recipient), event_id, ...move }]);
    if (!moved) return { kind: 'ignored', why: `the recipient is ${recipient.state}` };
    if (suppress !== null) {
      const ids = { id: newId('suppression', now_ms), event_id: newId('event', now_ms), source_event_id: event_id };
      const { workspace_id, email } = recipient;
      await addSuppressions(tx, [{ workspace_id, email, ...suppress, expires_at: null, ...ids }]);
    }
    return { kind: finding.transition === 'bounce' ? 'bounced' : 'complained' };
  });
}

function find(mail: ReturnedMail): Finding {
  switch (mail.kind) {
    case 'complaint':
      return COMPLAINTS.includes(mail.feedback_type)
        ? { transition: 'complain', feedback_type: mail.feedback_type }
        : { transition: null, why: `feedback of type ${mail.feedback_type} is not a complaint` };
    case 'report': {
      const failed = mail.recipients.filter(({ action }) => action === 'failed');
      const [report] = failed;
      if (report) return { transition: 'bounce', report, alone: mail.recipients.length === 1 };
      return { transition: null, why: `the report says ${mail.recipients.map(({ action }) => action).join(', ')}` };
    }
    case 'auto_reply':
      return { transition: null, why: 'it is an automatic reply' };
    case 'other':
      return { transition: null, why: 'it is not a report' };
  }
}

type Suppressing = { readonly source: SuppressionSource; readonly reason: string };

function meaningOf(finding: Exclude<Finding, { transition: null }>, recipient: ReturnedTo) {
  if (finding.transition === 'complain') {
    const { feedback_type } = finding;
    const suppress: Suppressing = { source: 'complaint', reason: `feedback of type ${feedback_type}` };
    return { suppress, move: { reason: 'complaint', event_facts: { feedback_type } } };
  }
  const { report, alone } = finding;
  const refusal = classifyReport(report);
  const response = report.diagnostic ?? report.status ?? 'undelivered';
  // A list behind the address may report several members; their faults are not faults of our recipient.
  const about_it = alone || report.addresses.includes(recipient.email.toLowerCase());
  const suppress: Suppressing | null = refusal.suppress && about_it ? { source: 'bounce', reason: response } : null;
  return {
    suppress,
    move: {
      reason: refusal.category,
      last_response: response,
      event_facts: { category: refusal.category, response, ...(report.status && { status: report.status }) },
    },
  };
}

/** Classifies a report's status and diagnostic code like the reply that they stand for. */
function classifyReport({ status, diagnostic }: ReportedRecipient): Classification {
  const reply = readReply(diagnostic ?? '');
  // x.0.0 says nothing but its class.
  const told = reply?.enhanced?.endsWith('.0.0') ? null : reply?.enhanced;
  const found = classify({
    code: reply?.code ?? null,
    enhanced: told ?? status,
    text: reply?.text ?? diagnostic ?? '',
  });
  // The server gave up on a temporary failure: that ends this message and says nothing about the next.
  return status?.startsWith('4') ? { ...found, suppress: false } : found;
}

function keyOf({ workspace_id, message_id, recipient_id }: ReturnedTo) {
  return { workspace_id, message_id, recipient_id };
}
