import type { ReportedRecipient } from './report-fields.ts';

/** A failure, a delay or a success as a mail system reported it. */
export interface ReturnedReport {
  readonly kind: 'report';
  /** The recipients of its fields; none if it is only a text. */
  readonly recipients: readonly ReportedRecipient[];
  /** The text for people above the copy of the mail. */
  readonly text: string;
  readonly subject: string;
  /** A text that says that the mail is still under way. */
  readonly is_delay: boolean;
  /** It carries a sign of a mail system, besides its null sender. */
  readonly from_system: boolean;
}

/** A mail sent back to an envelope sender. */
export type ReturnedMail =
  | ReturnedReport
  | { readonly kind: 'complaint'; readonly feedback_type: string }
  | { readonly kind: 'auto_reply' }
  | { readonly kind: 'other' };
