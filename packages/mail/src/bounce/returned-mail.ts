import { cleanRemoteText } from '@postrider/net';
import { decodeWords } from './charset.ts';
import { aboveCopy } from './copy-marks.ts';
import {
  ABSENCE_PATTERN,
  ABSENCE_SUBJECT,
  ACKNOWLEDGEMENT_SUBJECT,
  AGGREGATE_SUBJECT,
  CHALLENGE_PATTERN,
  DELAY_PATTERN,
  DELAY_SUBJECT,
  FAILURE_SUBJECT,
  GIVEN_UP,
  KEPT_FOR_MODERATOR,
  LEFT_PATTERN,
  MAIL_SYSTEM,
  NOT_DELIVERED,
  SUCCESS_PATTERN,
  SUCCESS_SUBJECT,
} from './kind-words.ts';
import { type Headers, type MailPart, readStructure } from './mime-parts.ts';
import { readNotification } from './notification.ts';
import { type ReportedRecipient, readFieldBlocks, reportedRecipients } from './report-fields.ts';
import type { ReturnedMail, ReturnedReport } from './returned-kinds.ts';

const DELIVERY_STATUS = /^message\/(?:global-)?delivery-status$/;
// The limit of the text for people; reasons appear at its beginning.
const MAX_TEXT_CHARACTERS = 3000;
const ANSWER_MARK = /^\s*(?:re|aw|sv|antw|rv|fwd?|wg|tr|回复|答复)(?:\[\d+\])? ?[:：]/i;
// A message states its kind within this much of its text.
const FIRST_WORDS = 3000;

interface ParsedReport {
  readonly headers: Headers;
  readonly subject: string;
  readonly text: string;
  readonly recipients: readonly ReportedRecipient[];
  readonly from: string;
  readonly null_sender: boolean;
  readonly signs: boolean;
}

/**
 * Classifies and parses a returned message. The message may be truncated after the report, because the original message
 * comes last. from is the envelope sender, empty for the null sender.
 *
 * A message with report fields counts from any sender. Any other failure counts only from the null sender or from a
 * mail system, whatever its format.
 */
export function readReturnedMail(raw: Buffer, from = ''): ReturnedMail {
  const { headers, parts } = readStructure(raw);
  const subject = decodeWords(headers.get('subject') ?? '');
  const complaint = complaintIn(parts, subject);
  if (complaint !== null) return { kind: 'complaint', feedback_type: complaint };
  if (parts.some(({ type }) => type === 'message/disposition-notification')) return { kind: 'other' };
  if (isAggregate(headers, parts, subject)) return { kind: 'other' };
  const text = textForPeople(parts);
  const noticed = readNotification(text);
  if (noticed !== null) return noticed;
  const recipients = recipientsIn(parts);
  const null_sender = /^<?>?$/.test(from.trim());
  const signs = hasSigns(headers, subject, from);
  const read: ParsedReport = { headers, subject, text, recipients, from, null_sender, signs };
  if (recipients.length > 0) return report(read, false);
  return kindByWords(read);
}

function kindByWords(read: ParsedReport): ReturnedMail {
  const { headers, subject, text, from, null_sender, signs } = read;
  const failed = headers.has('x-failed-recipients');
  if (ABSENCE_SUBJECT.test(subject) && !failed) return { kind: 'auto_reply' };
  if (isMarked(headers) && !signs) return { kind: 'auto_reply' };
  // A failure subject alone is not enough, because a person's reply to a failure report has the same subject.
  if (!null_sender && !fromSystem(headers, from) && !isReport(headers)) return { kind: 'other' };
  const first = text.slice(0, FIRST_WORDS);
  const undelivered = NOT_DELIVERED.test(first) || GIVEN_UP.test(first);
  if (!failed && !undelivered && (SUCCESS_SUBJECT.test(subject) || SUCCESS_PATTERN.test(first)))
    return { kind: 'other' };
  if (!undelivered && KEPT_FOR_MODERATOR.test(`${subject}\n${first}`)) return { kind: 'other' };
  if (!signs && !undelivered && isAutomatic(subject, first)) return { kind: 'auto_reply' };
  if (!signs && !undelivered && ANSWER_MARK.test(subject) && !saysReply(first)) return { kind: 'other' };
  if (text.trim() === '' && subject === '') return { kind: 'other' };
  return report(read, !failed && isDelay(subject, first));
}

function report({ recipients, text, subject, signs }: ParsedReport, is_delay: boolean): ReturnedReport {
  return {
    kind: 'report',
    recipients,
    text: text.slice(0, MAX_TEXT_CHARACTERS).trim(),
    subject: cleanRemoteText(subject).slice(0, 300),
    is_delay,
    from_system: signs || recipients.length > 0,
  };
}

/** Returns whether a message without a marker is an automatic reply. */
function isAutomatic(subject: string, first: string): boolean {
  if (ABSENCE_PATTERN.test(first) || ACKNOWLEDGEMENT_SUBJECT.test(subject) || CHALLENGE_PATTERN.test(first))
    return true;
  return LEFT_PATTERN.test(`${subject}\n${first}`) && !saysReply(first);
}

/**
 * Returns whether any line begins with a reply code or quotes a reply code. A telephone number in a sentence does not
 * count.
 */
function saysReply(text: string): boolean {
  return /(?:^|said: |<<< |>>> |\()[45]\d\d[ -](?:#?[45]\.\d|[a-z<])|\b[45]\.\d\.\d{1,2}\b/im.test(text);
}

function isDelay(subject: string, first: string): boolean {
  if (GIVEN_UP.test(first) || GIVEN_UP.test(subject)) return false;
  if (DELAY_PATTERN.test(first)) return true;
  return DELAY_SUBJECT.test(subject) && !NOT_DELIVERED.test(first) && !FAILURE_WORDS_BESIDE_DELAY.test(subject);
}
const FAILURE_WORDS_BESIDE_DELAY = /undeliver|fail|returned|could not/i;

/**
 * Returns the type of a complaint, or null if the message is not a complaint. Reads RFC 5965 and the older Hotmail
 * format.
 */
function complaintIn(parts: readonly MailPart[], subject: string): string | null {
  const feedback = parts.find(({ type }) => type === 'message/feedback-report');
  // If the type of the part is lost, its first field identifies it.
  const text = feedback?.text ?? parts.find((part) => /^\s*feedback-type:/i.test(part.text))?.text;
  if (text !== undefined) {
    const type = readFieldBlocks(text)
      .find((fields) => fields.has('feedback-type'))
      ?.get('feedback-type');
    return cleanRemoteText(type ?? '').toLowerCase();
  }
  const copied = parts.some(({ type }) => type === 'message/rfc822');
  return copied && /^complaint about (?:a )?message from\b/i.test(subject.trim()) ? 'abuse' : null;
}

/**
 * Returns whether the message is a DMARC (RFC 7489) or TLS (RFC 8460) report about many messages, which may come from
 * the null sender.
 */
function isAggregate(headers: Headers, parts: readonly MailPart[], subject: string): boolean {
  return (
    AGGREGATE_SUBJECT.test(subject) ||
    headers.has('tls-report-domain') ||
    /report-type="?tlsrpt/i.test(headers.get('content-type') ?? '') ||
    parts.some(({ type }) => type.startsWith('application/tlsrpt'))
  );
}

/** Returns the recipients of the report parts, or, if there are none, the recipients in any text above the copy. */
function recipientsIn(parts: readonly MailPart[]): ReportedRecipient[] {
  const reported = parts.filter(({ type }) => DELIVERY_STATUS.test(type));
  const recipients = reported.flatMap(({ text }) => reportedRecipients(text, true));
  if (recipients.length > 0) return recipients;
  return parts.flatMap(({ type, text }) => {
    if (type.startsWith('message/') || !/^[ \t]*(?:final|original)-recipient[ \t]*:/im.test(text)) return [];
    const fields = aboveCopy(text).replace(/^[ \t]+(?=[\w-]{3,40}:[ \t])/gm, '');
    return reportedRecipients(fields, false);
  });
}

/**
 * Returns the first text, and any other texts before the copy that contain a reply, because some systems put the reason
 * in a second part. HTML counts only if there is no plain text.
 */
function textForPeople(parts: readonly MailPart[]): string {
  const copy = parts.findIndex(({ type }) => /^(?:message\/rfc822|text\/rfc822-headers|message\/partial)$/.test(type));
  const before = copy > 0 ? parts.slice(0, copy) : parts;
  const texts = textsOf(before, 'text/plain');
  const [first = '', ...others] = texts.length > 0 ? texts : textsOf(before, 'text/html');
  return [first, ...others.filter((text) => saysReply(text)).slice(0, 3)].join('\n\n');
}

function textsOf(parts: readonly MailPart[], mime_type: string): string[] {
  const ofKind = parts.filter(({ type }) =>
    mime_type === 'text/html' ? type === mime_type : /^text\/(?!html|rfc822)/.test(type),
  );
  // Attachments come after the displayed parts.
  const [attached = [], inline = []] = [true, false].map((is) =>
    ofKind.filter(({ is_attached }) => is_attached === is),
  );
  return [...inline, ...attached].map(({ text }) => aboveCopy(text).trim()).filter((text) => text !== '');
}

/**
 * Returns whether there are signs of a mail system. The null sender alone is not a sign, because automatic replies use
 * it too.
 */
function hasSigns(headers: Headers, subject: string, from: string): boolean {
  return (
    isReport(headers) ||
    headers.has('x-failed-recipients') ||
    fromSystem(headers, from) ||
    (FAILURE_SUBJECT.test(subject) && !ANSWER_MARK.test(subject))
  );
}

function isReport(headers: Headers): boolean {
  return /multipart\/report/i.test(headers.get('content-type') ?? '');
}

function fromSystem(headers: Headers, from: string): boolean {
  const writer = decodeWords(headers.get('from') ?? '');
  return (
    MAIL_SYSTEM.test(from) ||
    MAIL_SYSTEM.test(writer) ||
    MAIL_SYSTEM.test(headers.get('sender') ?? '') ||
    MAIL_SYSTEM.test(headers.get('return-path') ?? '') ||
    // DragonFly and others write the null sender in the header.
    /<>\s*$/.test(writer)
  );
}

/** Returns whether a header marks an automatic reply (RFC 3834 section 5, and older headers). */
function isMarked(headers: Headers): boolean {
  const submitted = headers.get('auto-submitted')?.toLowerCase();
  if (submitted !== undefined) return submitted.split(/[\s;(]/)[0] !== 'no';
  if (['x-autoreply', 'x-autorespond', 'x-autoresponder', 'x-autogenerated'].some((name) => headers.has(name)))
    return true;
  return /^(?:auto_reply|bulk|junk)\b/i.test(headers.get('precedence') ?? '');
}
