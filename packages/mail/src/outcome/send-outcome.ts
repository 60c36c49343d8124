import type { Reply } from './reply.ts';

/** The SMTP envelope of one transaction: one recipient, so that one refusal never touches another. */
export interface Envelope {
  readonly from: string;
  readonly to: string;
  /**
   * Called before the first byte of the content leaves, which waits for a promise. Where it answers false or rejects,
   * the mail is deferred instead of sent.
   */
  before_content?(): boolean | Promise<boolean>;
  /** Called once, when the mail has a connection, open or being opened. */
  begun?(): void;
  /** Called once the end of DATA has been handed to the kernel; the content is no longer held. */
  written?(): void;
}

/** How far a transaction came before it was decided. */
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
  /** Host and port of the server; empty where none was tried. */
  readonly target: string;
  /** The address that was connected to, if any. */
  readonly address: string | null;
  readonly tls_policy: TlsPolicy | null;
  readonly tls: TlsFacts | null;
  /** connect and tls are 0 on a kept connection; tls is the STARTTLS upgrade only. */
  readonly phases_ms: { readonly connect: number; readonly tls: number; readonly mail: number; readonly data: number };
  /** How long it took to find the mail servers; absent where none had to be found. */
  readonly dns_ms?: number;
  readonly stage: SendStage;
  readonly transcript: string;
}

/** The mail, or a function that renders it when its turn is near, so that waiting mails hold no copy. */
export type Raw = Buffer | (() => Buffer | Promise<Buffer>);

export interface Mailer {
  /**
   * Resolves with an outcome for any network or SMTP failure; the promise rejects if the mail cannot be rendered.
   * Aborting the signal cancels the send until the end of DATA is written; after that the reply is awaited.
   */
  send(envelope: Envelope, raw: Raw, signal: AbortSignal): Promise<SendOutcome>;
  /**
   * The destination that may be slow or closed on its own: mails of two lanes never wait for each other. Answers from
   * memory, so the lane of an address may change once its mail servers are known.
   */
  laneOf(to: string): string;
  /** How many mails of one lane it can use at once; where absent, a number that foreign servers tolerate. */
  readonly width?: number | undefined;
  /** Refuses waiting mails, lets running ones finish, and closes the kept connections. */
  stop(): Promise<void>;
}
