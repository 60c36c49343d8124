/** A recipient that is open after a restore. */
export interface RecipientQuery {
  readonly message_id: string;
  readonly recipient_id: string;
  readonly email: string;
  /** How many recipients its message has. */
  readonly recipient_count: number;
}

/**
 * perhaps: the mail is named, and which of its recipients is not, or it was being sent. ended: it was given up, canceled
 * or refused, and no server took it.
 */
export type KnownState = 'sent' | 'perhaps' | 'ended' | null;

/** A line of a log that names an email and does not say whether it was sent. */
export interface UnclearLine {
  readonly log: string;
  readonly line_number: number;
  readonly line: string;
}

/** Something that was not restored and knows what was sent since the restore point. */
export interface KnownSent {
  /** What people call it, such as the path of a log. */
  readonly name: string;
  /** All are counted, the first ones listed. They count as not sent. */
  readonly unclear_lines: { readonly count: number; readonly listed: readonly UnclearLine[] };
  /** For each that is asked for, in order. */
  lookup(keys: readonly RecipientQuery[]): Promise<readonly KnownState[]>;
  /** Of mail that it knows of, ids from this one on, a page at a time. */
  messagesFrom(id: string, count: number): Promise<readonly string[]>;
}
