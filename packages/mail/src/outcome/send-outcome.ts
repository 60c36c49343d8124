import type { Reply } from './reply.ts';

/** The SMTP envelope of one transaction. It has one recipient, so that a rejection never affects another recipient. */
export interface Envelope {
  readonly from: string;
  readonly to: string;
  /**
   * Called before the first byte of content is sent; the send waits for the promise. If it returns false or rejects,
   * the message is deferred instead of sent.
   */
  before_content?(): boolean | Promise<boolean>;
  /** Called once, when the message has a connection that is open or being opened. */
  begun?(): void;
  /** Called once the end of DATA has been handed to the kernel and the content is no longer in memory. */
  written?(): void;
}

/** How far a transaction got before it was decided. */
export type SendStage = 'connect' | 'mail' | 'rcpt' | 'data' | 'after_dot';

/**
 * The basis on which a session was secured: none, the server's offer, the operator's setting, or the destination's own
 * policy.
 */
export type TlsPolicy = 'none' | 'opportunistic' | 'required' | 'mta-sts';

export interface TlsFacts {
  readonly protocol: string;
  readonly cipher: string;
  readonly authorized: boolean;
}

export interface SendOutcome {
  /**
   * accepted: the server accepted the message. rejected: the server permanently rejected the message. deferred: the
   * server did not accept the message, and a later attempt may succeed. unknown: the server received the whole message,
   * and the connection was lost before the reply.
   */
  readonly kind: 'accepted' | 'deferred' | 'rejected' | 'unknown';
  readonly reply: Reply | null;
  readonly error: string | null;
  /** Host and port of the server; empty if no server was tried. */
  readonly target: string;
  /** The address that was connected to, if any. */
  readonly address: string | null;
  readonly tls_policy: TlsPolicy | null;
  readonly tls: TlsFacts | null;
  /** connect and tls are 0 on a reused connection. tls is the STARTTLS upgrade only. */
  readonly phases_ms: { readonly connect: number; readonly tls: number; readonly mail: number; readonly data: number };
  /** How long the lookup of the mail servers took; absent if there was no lookup. */
  readonly dns_ms?: number;
  readonly stage: SendStage;
  readonly transcript: string;
}

/** The message, or a function that renders it when its turn is near, so that waiting messages hold no copy. */
export type Raw = Buffer | (() => Buffer | Promise<Buffer>);

export interface Mailer {
  /**
   * Sends a message. Resolves with an outcome for any network or SMTP failure, and rejects if the message cannot be
   * rendered. Aborting the signal cancels the send until the end of DATA is written; after that, the reply is awaited.
   */
  send(envelope: Envelope, raw: Raw, signal: AbortSignal): Promise<SendOutcome>;
  /**
   * Returns the lane of an address: a destination that may be slow or closed independently, so that messages of two
   * lanes never wait for each other. Answers from memory, so the lane of an address may change once its mail servers
   * are known.
   */
  laneOf(to: string): string;
  /**
   * How many messages of one lane the mailer can send concurrently. If absent, the limit is a number that third-party
   * servers tolerate.
   */
  readonly width?: number | undefined;
  /** Rejects waiting messages, lets running sends finish, and closes idle connections. */
  stop(): Promise<void>;
}
