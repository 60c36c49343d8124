import type { ReportedRecipient, ReturnedMail, ReturnedReport } from '@postrider/mail';
import { cleanRemoteText } from '@postrider/net';
import { newId } from '../fields/ids.ts';
import type { Services } from '../operation/context.ts';
import { keyOf } from '../states/index.ts';
import { addSuppressions, type SuppressionSource } from '../suppressions/index.ts';
import { type BounceVerdict, classifyReturned } from './classify-returned.ts';
import type { ReturnPath } from './return-path.ts';
import { findReturnedTo, recordDelay } from './returned-store.ts';
import { transition } from './store.ts';

/** How recordReturned handled a message sent to one of our return addresses (VERP). */
export type RecordedReturn =
  | { readonly kind: 'bounced' | 'complained' | 'delayed' }
  | { readonly kind: 'ignored'; readonly why: string }
  /** The delivery is still being recorded: the report must be delivered again. */
  | { readonly kind: 'later' };

// RFC 5965 section 7.3 and its registry. not-spam is the opposite of a complaint, and auth-failure (RFC 6591) does not
// come from a reader.
const COMPLAINTS: readonly string[] = ['abuse', 'fraud', 'virus', 'opt-out', 'opt-out-list'];

/** What a relay that reports by HTTP knows beyond the report. */
export interface RelayFacts {
  /** The relay did not try: the report says nothing about the mailbox, and the address may be free again there. */
  readonly is_relay_suppressed?: boolean | undefined;
}

/** The change that a returned message calls for, if any. */
type Finding =
  | {
      readonly what: 'bounce';
      readonly report: ReturnedReport;
      readonly group: ReportedRecipient | null;
      alone: boolean;
    }
  | { readonly what: 'delay'; readonly response: string }
  | { readonly what: 'complain'; readonly feedback_type: string }
  | { readonly what: 'nothing'; readonly why: string };

/**
 * Records a returned message. The signed address proves the recipient. Recipients named in the report are not trusted,
 * but if our address is among them, only its entries count. Only a delivered recipient changes, so a repeated report
 * changes nothing. If the recipient is being sent to, the report may have overtaken our own record and must be
 * delivered again. A recipient that waits for a retry keeps waiting: the next reply is as good as the report.
 */
export async function recordReturned(
  services: Services,
  path: ReturnPath,
  mail: ReturnedMail,
  { is_relay_suppressed = false }: RelayFacts = {},
): Promise<RecordedReturn> {
  return services.sql.begin(async (tx): Promise<RecordedReturn> => {
    const recipient = await findReturnedTo(tx, path);
    if (!recipient) return { kind: 'ignored', why: 'the message is no longer stored' };
    const finding = judgeReturned(mail, recipient.email);
    if (finding.what === 'nothing') return { kind: 'ignored', why: finding.why };
    if (recipient.state === 'sending') return { kind: 'later' };
    const now_ms = services.clock.now();
    const event_id = newId('event', now_ms);
    if (finding.what === 'delay') {
      const recorded = await recordDelay(tx, {
        ...keyOf(recipient),
        event_id,
        event_facts: { response: finding.response, reported: true },
      });
      return recorded
        ? { kind: 'delayed' }
        : { kind: 'ignored', why: `the recipient is ${recipient.state}, or was told` };
    }
    const { move, suppress } = meaningOf(is_relay_suppressed ? asRelaySuppressed(finding) : finding);
    const [moved] = await transition(tx, finding.what, [{ ...keyOf(recipient), event_id, ...move }]);
    if (!moved) return { kind: 'ignored', why: `the recipient is ${recipient.state}` };
    if (suppress !== null) {
      const ids = { id: newId('suppression', now_ms), event_id: newId('event', now_ms), source_event_id: event_id };
      const { workspace_id, email } = recipient;
      await addSuppressions(tx, [{ workspace_id, email, ...suppress, expires_at: null, ...ids }]);
    }
    return { kind: finding.what === 'bounce' ? 'bounced' : 'complained' };
  });
}

/** Determines the change without recording it. */
export function judgeReturned(mail: ReturnedMail, email: string): JudgedReturn {
  const finding = find(mail, email.toLowerCase());
  if (finding.what !== 'bounce') return finding;
  const verdict = classifyReturned(finding.report, finding.group, email);
  return {
    what: 'bounce',
    status: finding.group?.status ?? null,
    ...verdict,
    suppress: verdict.suppress && finding.alone,
  };
}

function find(mail: ReturnedMail, email: string): Finding {
  switch (mail.kind) {
    case 'complaint':
      return COMPLAINTS.includes(mail.feedback_type)
        ? { what: 'complain', feedback_type: mail.feedback_type }
        : { what: 'nothing', why: `feedback of type ${mail.feedback_type} is not a complaint` };
    case 'report':
      return findInReport(mail, email);
    case 'auto_reply':
      return { what: 'nothing', why: 'it is an automatic reply' };
    case 'other':
      return { what: 'nothing', why: 'it is not a report' };
  }
}

/**
 * Returns the finding of a report. If a group names our address, it alone decides; otherwise the other groups count.
 */
function findInReport(report: ReturnedReport, email: string): Finding {
  const { recipients } = report;
  if (recipients.length === 0) {
    if (report.is_delay)
      return { what: 'delay', response: cleanRemoteText((report.text || report.subject).slice(0, 300)) };
    return { what: 'bounce', report, group: null, alone: true };
  }
  const own_recipients = recipients.filter(({ addresses }) => addresses.includes(email));
  const considered = own_recipients.length > 0 ? own_recipients : recipients;
  const group = considered.find(({ action }) => action === 'failed');
  // A list behind the address may report several members; their faults are not those of our recipient.
  if (group) return { what: 'bounce', report, group, alone: own_recipients.length > 0 || recipients.length === 1 };
  const delayed = considered.find(({ action }) => action === 'delayed');
  if (delayed) return { what: 'delay', response: delayed.diagnostic ?? delayed.status ?? 'delayed' };
  return { what: 'nothing', why: `the report says ${considered.map(({ action }) => action).join(', ')}` };
}

export type JudgedReturn =
  | ({ readonly what: 'bounce'; readonly status: string | null } & BounceVerdict)
  | Exclude<Finding, { what: 'bounce' }>;

function asRelaySuppressed<F extends Extract<JudgedReturn, { what: 'bounce' | 'complain' }>>(finding: F): F {
  if (finding.what === 'complain') return finding;
  const { code } = finding.bounce;
  return {
    ...finding,
    suppress: false,
    bounce: { class: 'soft', category: 'policy', code, reason: 'relay_suppressed' },
  };
}

type Suppressing = { readonly source: SuppressionSource; readonly reason: string };

function meaningOf(finding: Extract<JudgedReturn, { what: 'bounce' | 'complain' }>) {
  if (finding.what === 'complain') {
    const { feedback_type } = finding;
    const suppress: Suppressing = { source: 'complaint', reason: `feedback of type ${feedback_type}` };
    return { suppress, move: { reason: 'complaint', event_facts: { feedback_type } } };
  }
  const { bounce, response, status } = finding;
  const suppress: Suppressing | null = finding.suppress ? { source: 'bounce', reason: response } : null;
  const event_facts = { category: bounce.category, response, ...(status && { status }), bounce };
  return { suppress, move: { reason: bounce.reason ?? bounce.category, last_response: response, event_facts } };
}
