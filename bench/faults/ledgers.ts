/** What a client knows of one request, by its idempotency key. */
export interface Sent {
  readonly key: string;
  readonly recipients: readonly string[];
  /** When it was due, in milliseconds since 1970; null for mail that is not scheduled. */
  readonly due_at: number | null;
  readonly first_tried_at: number;
  accepted_at: number | null;
  /** Every id that was answered for the key; more than one is a fault. */
  readonly ids: Set<string>;
  refusal: string | null;
  /** The answer to a cancel: canceled, too late, or not known because the answer was lost. */
  canceled: 'no' | 'yes' | 'refused' | 'unknown';
}

export const sinkOutcomes = ['accepted', 'deferred', 'rejected', 'ack_lost', 'dropped'] as const;
export type SinkOutcome = (typeof sinkOutcomes)[number];

/** What a mail server saw of one recipient of one transaction. */
export interface Seen {
  readonly message_id: string;
  readonly recipient: string;
  readonly outcome: SinkOutcome;
  readonly at: number;
  readonly body_hash: string;
}

/** One post to a webhook endpoint. */
export interface Posted {
  readonly webhook_id: string;
  readonly type: string;
  readonly email_id: string | null;
  readonly sequence: number | null;
  readonly signed: boolean;
  readonly answered: number;
  readonly at: number;
}

/** One life of one process. */
export interface Life {
  readonly slot: string;
  readonly pid: number;
  readonly started_at: number;
  ready_at: number | null;
  ended_at: number | null;
  /** How it ended; unplanned is a fault of the service. */
  end: 'killed' | 'stopped' | 'unplanned' | null;
}

/** One fault as it was made. */
export interface Fault {
  readonly what: string;
  readonly at: number;
  readonly ended_at: number;
}

export interface Ledgers {
  readonly sent: Sent[];
  readonly seen: Seen[];
  readonly posted: Posted[];
  readonly lives: Life[];
  readonly faults: Fault[];
}

export function newLedgers(): Ledgers {
  return { sent: [], seen: [], posted: [], lives: [], faults: [] };
}
