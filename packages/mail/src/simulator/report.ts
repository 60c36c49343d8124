import { domainOf } from '../address/domain-of.ts';
import { type Reply, replyLine } from '../outcome/reply.ts';
import { SIMULATOR_DOMAIN } from './script.ts';

/** An accepted message whose envelope sender receives a report. */
export interface ReportedMail {
  readonly envelope_from: string;
  readonly recipient: string;
  readonly raw: Buffer;
  readonly arrived_at: Date;
}

const CRLF = '\r\n';
const MAX_HEADER_LENGTH = 32 * 1024;

/**
 * Builds a report (RFC 3464) that the message could not be delivered after all. Includes the reason given by a server.
 */
export function failureReport(id: string, mail: ReportedMail, refusal: Reply): Buffer {
  return report(id, mail, {
    type: 'delivery-status',
    from: `Mail Delivery Subsystem <mailer-daemon@${SIMULATOR_DOMAIN}>`,
    subject: 'Delivery Status Notification (Failure)',
    text: `Your message to ${mail.recipient} could not be delivered: ${refusal.text}.`,
    fields: [
      `Reporting-MTA: dns; ${SIMULATOR_DOMAIN}`,
      `Arrival-Date: ${mailDate(mail.arrived_at)}`,
      '',
      `Final-Recipient: rfc822; ${mail.recipient}`,
      'Action: failed',
      `Status: ${refusal.enhanced ?? '5.0.0'}`,
      `Diagnostic-Code: smtp; ${replyLine(refusal)}`,
    ],
  });
}

/** Builds a report (RFC 5965) that the recipient marked the message as abuse. */
export function complaintReport(id: string, mail: ReportedMail): Buffer {
  return report(id, mail, {
    type: 'feedback-report',
    from: `Feedback loop <complaints@${SIMULATOR_DOMAIN}>`,
    subject: 'Spam complaint about your message',
    text: `${mail.recipient} reported your message as spam.`,
    fields: [
      'Feedback-Type: abuse',
      'User-Agent: Postrider-Simulator/1',
      'Version: 1',
      `Original-Mail-From: <${mail.envelope_from}>`,
      `Original-Rcpt-To: <${mail.recipient}>`,
      `Arrival-Date: ${mailDate(mail.arrived_at)}`,
      `Reported-Domain: ${domainOf(mail.envelope_from)}`,
    ],
  });
}

interface Content {
  readonly type: 'delivery-status' | 'feedback-report';
  readonly from: string;
  readonly subject: string;
  readonly text: string;
  readonly fields: readonly string[];
}

/** Builds a report (RFC 6522): a text for people, fields for programs, and the header of the reported message. */
function report(id: string, mail: ReportedMail, { type, from, subject, text, fields }: Content): Buffer {
  const boundary = `report_${id}`;
  const part = (content_type: string, lines: readonly string[]) => [
    `--${boundary}`,
    `Content-Type: ${content_type}`,
    '',
    ...lines,
    '',
  ];
  const lines = [
    `From: ${from}`,
    `To: <${mail.envelope_from}>`,
    `Subject: ${subject}`,
    `Date: ${mailDate(mail.arrived_at)}`,
    `Message-ID: <${id}@${SIMULATOR_DOMAIN}>`,
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=${type};`,
    ` boundary="${boundary}"`,
    '',
    ...part('text/plain; charset=us-ascii', [text]),
    ...part(`message/${type}`, fields),
    ...part('text/rfc822-headers', [headerOf(mail.raw)]),
    `--${boundary}--`,
    '',
  ];
  return Buffer.from(lines.join(CRLF), 'latin1');
}

/** Returns the header of a message. A header that is too long is truncated at the end of a line. */
function headerOf(raw: Buffer): string {
  const end = raw.indexOf('\r\n\r\n');
  const header = raw.toString('latin1', 0, end < 0 ? raw.length : end);
  return header.length <= MAX_HEADER_LENGTH ? header : header.slice(0, header.lastIndexOf(CRLF, MAX_HEADER_LENGTH));
}

function mailDate(date: Date): string {
  return date.toUTCString().replace('GMT', '+0000');
}
