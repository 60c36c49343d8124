export interface SmtpTimeouts {
  /** From the first packet to the end of greeting, EHLO, STARTTLS and login. */
  readonly connect_ms: number;
  /** For each reply of MAIL, RCPT, DATA and RSET. */
  readonly command_ms: number;
  /** For the transfer of the whole content, from the go-ahead to the dot. */
  readonly content_ms: number;
  /** For the reply to the dot. RFC 5321 section 4.5.3.2.6 allows a server ten minutes. */
  readonly after_dot_ms: number;
  /** Envelopes are pipelined only behind a server that answers its dots within this time. */
  readonly prompt_ms: number;
  /** A kept connection is closed after this long without work. */
  readonly idle_ms: number;
}

export const DEFAULT_TIMEOUTS: SmtpTimeouts = {
  connect_ms: 30_000,
  command_ms: 60_000,
  content_ms: 180_000,
  after_dot_ms: 120_000,
  prompt_ms: 1000,
  idle_ms: 30_000,
};
