import type { ReportedRecipient } from './report-fields.ts';

/** A failure, delay or success reported by a mail system. */
export interface ReturnedReport {
  readonly kind: 'report';
  /** The recipients named in the report's fields; empty if the report has only text. */
  readonly recipients: readonly ReportedRecipient[];
  /** The text for people above the copy of the message. */
  readonly text: string;
  readonly subject: string;
  /** Whether the text says that the message is still being delivered. */
  readonly is_delay: boolean;
  /** Whether the message has a sign of a mail system besides the null sender. */
  readonly from_system: boolean;
}

/** A message sent back to an envelope sender. */
export type ReturnedMail =
  | ReturnedReport
  | { readonly kind: 'complaint'; readonly feedback_type: string }
  | { readonly kind: 'auto_reply' }
  | { readonly kind: 'other' };
