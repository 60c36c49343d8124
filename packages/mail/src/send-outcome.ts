import type { Reply } from './reply.ts';

/** The SMTP envelope of one transaction: one recipient, so that one refusal never touches another. */
export interface Envelope {
  readonly from: string;
  readonly to: string;
  /**
   * Asked before the first byte of the content leaves, and waited for. Where it says no, or fails, the mail is not
   * sent: it is deferred.
   */
  before_content?(): Promise<boolean>;
  /** Told once, when a connection is there or being opened, and its turn on it has come. */
  begun?(): void;
}

/** How far a transaction came: what was being done, or waited for, when it was decided. */
export type SendStage = 'connect' | 'mail' | 'rcpt' | 'data' | 'after_dot';

/** What decided how a session was secured: nothing, the server's offer, the operator, or the destination's own policy. */
export type TlsPolicy = 'none' | 'opportunistic' | 'required' | 'mta-sts';

export interface TlsFacts {
  readonly protocol: string;
  readonly cipher: string;
  readonly authorized: boolean;
}

export interface SendOutcome {
  /**
   * accepted: the server took the mail. rejected: it refused this mail for good. deferred: it did not take
   * it, and a later attempt may succeed. unknown: it had all of the mail and was lost before its answer.
   */
  readonly kind: 'accepted' | 'deferred' | 'rejected' | 'unknown';
  readonly reply: Reply | null;
  readonly error: string | null;
  /** The host and port that was asked for; empty where none was reached for. */
  readonly target: string;
  /** The address that was connected to, where one was. */
  readonly address: string | null;
  readonly tls_policy: TlsPolicy | null;
  readonly tls: TlsFacts | null;
  /** connect and tls are 0 on a kept connection; tls is the STARTTLS upgrade only. */
  readonly phases_ms: { readonly connect: number; readonly tls: number; readonly mail: number; readonly data: number };
  readonly stage: SendStage;
  readonly transcript: string;
}

/** The mail, or what makes it when its turn is near, so that those who wait long hold no copy. */
export type Raw = Buffer | (() => Buffer | Promise<Buffer>);

export interface Mailer {
  /**
   * Never rejects for what the network did; rejects if the mail cannot be made. The signal is honoured until
   * the final dot is written.
   */
  send(envelope: Envelope, raw: Raw, signal: AbortSignal): Promise<SendOutcome>;
  /**
   * What may be slow or closed by itself, by name: mail of two lanes must never wait for each other. Answers at
   * once, and may answer another lane for an address once more is known about where its domain is served.
   */
  laneOf(to: string): string;
  /** How many mails of one lane it can do with at once; where absent, as many as strangers put up with. */
  readonly width?: number | undefined;
  /** Refuses what waits, lets what is under way finish, and closes the kept connections. */
  stop(): Promise<void>;
}
