/** A recipient that is open after a restore. */
export interface RecipientQuery {
  readonly message_id: string;
  readonly recipient_id: string;
  readonly email: string;
  /** How many recipients its message has. */
  readonly recipient_count: number;
}

/**
 * perhaps: the source names the message but not this recipient, or the message was being sent. ended: the recipient was
 * given up, canceled or rejected, and no server accepted the message.
 */
export type KnownState = 'sent' | 'perhaps' | 'ended' | null;

/** A log line that names an email but does not say whether it was sent. */
export interface UnclearLine {
  readonly log: string;
  readonly line_number: number;
  readonly line: string;
}

export interface KnownMessage {
  readonly id: string;
  /** Whether nothing is left to send to any recipient that the source names. */
  readonly is_closed: boolean;
}

/** A source that was not restored and still has records of email sent since the restore point. */
export interface KnownSent {
  /** Its display name, such as the path of a log. */
  readonly name: string;
  /** All unclear lines are counted, and the first ones are listed. Their emails count as not sent. */
  readonly unclear_lines: { readonly count: number; readonly listed: readonly UnclearLine[] };
  /** Returns the state of each key, in order. */
  lookup(keys: readonly RecipientQuery[]): Promise<readonly KnownState[]>;
  /** Returns the next messages known to the source, starting at `id`, in pages of `count`. */
  messagesFrom(id: string, count: number): Promise<readonly KnownMessage[]>;
}
