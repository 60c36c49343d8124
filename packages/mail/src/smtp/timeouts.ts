export interface SmtpTimeouts {
  /** Limit for connecting, and then for each reply until the session is open: greeting, EHLO, STARTTLS, login. */
  readonly greeting_ms: number;
  /** For each reply of MAIL, RCPT and RSET. */
  readonly command_ms: number;
  /** For the go-ahead after DATA. */
  readonly data_ms: number;
  /** For the transfer of each block of the content. */
  readonly block_ms: number;
  /** For the reply to the end of DATA. */
  readonly after_dot_ms: number;
  /** Envelopes are pipelined only if the server replies to the end of DATA within this time. */
  readonly prompt_ms: number;
  /** An idle connection is closed after this long. */
  readonly idle_ms: number;
}

/**
 * The time limits that RFC 5321 section 4.5.3.2 grants to a server. A client that gives up earlier may never deliver,
 * or deliver twice.
 */
export const DEFAULT_TIMEOUTS: SmtpTimeouts = {
  greeting_ms: 300_000,
  command_ms: 300_000,
  data_ms: 120_000,
  block_ms: 180_000,
  after_dot_ms: 600_000,
  prompt_ms: 1000,
  idle_ms: 30_000,
};
