/** A client's record of one request, by idempotency key. */
export interface SentEntry {
  readonly key: string;
  /**
   * False if the request was sent only once and without a key, in which case its outcome is unknown unless there was a
   * response.
   */
  readonly keyed: boolean;
  readonly recipients: readonly string[];
  /** When the message was due, in milliseconds since 1970, or null if it was not scheduled. */
  readonly due_at: number | null;
  readonly first_tried_at: number;
  accepted_at: number | null;
  /** Every ID returned for the key. More than one is a fault. */
  readonly ids: Set<string>;
  refusal: string | null;
  /** The response to a cancel: canceled, too late, or unknown because the response was lost. */
  canceled: 'no' | 'yes' | 'refused' | 'unknown';
}

export const sinkOutcomes = ['accepted', 'deferred', 'rejected', 'ack_lost', 'dropped'] as const;
export type SinkOutcome = (typeof sinkOutcomes)[number];

/** A mail server's record of one recipient in one transaction. */
export interface ArrivalEntry {
  readonly message_id: string;
  readonly recipient: string;
  readonly outcome: SinkOutcome;
  /** Whether the response was delayed on purpose. */
  readonly late: boolean;
  readonly at: number;
  readonly body_hash: string;
}

/** One post received by a webhook endpoint. */
export interface PostEntry {
  readonly webhook_id: string;
  readonly type: string;
  readonly email_id: string | null;
  readonly sequence: number | null;
  readonly signed: boolean;
  readonly answered: number;
  readonly at: number;
}

/** One run of one process. */
export interface Life {
  readonly slot: string;
  readonly pid: number;
  readonly started_at: number;
  ready_at: number | null;
  ended_at: number | null;
  /** How the run ended. `unplanned` means a fault in the service. */
  end: 'killed' | 'stopped' | 'unplanned' | null;
  max_memory_mb: number;
}

/** What a fault targets. */
export type FaultOf = 'worker' | 'api' | 'database' | 'mail' | 'pause' | 'stop';

/** One fault as injected. */
export interface Fault {
  readonly what: string;
  readonly of: FaultOf;
  readonly at: number;
  readonly ended_at: number;
}

/** A worker's state when it was killed, and what became of its messages. */
export interface WorkerKill {
  readonly slot: string;
  readonly at: number;
  readonly lived_ms: number;
  /** The time that the worker took to start, and the time since the previous kill in its slot. */
  readonly start_ms: number;
  readonly since_last_kill_ms: number | null;
  readonly messages_per_second: number;
  /** The number of open recipients. */
  readonly backlog: number;
  /**
   * The maximum number of messages that the worker may have sent without recording, as exposed in its metrics, or null
   * if not read.
   */
  readonly bound: number | null;
  /** The number of jobs that the worker had claimed. */
  readonly held: number;
  /** When the last of these jobs finished or was claimed by another worker, or null if neither was observed. */
  taken_over_at: number | null;
}

/** A worker that was stopped and cut off: the jobs it had claimed, and those that no other worker took over. */
export interface Split {
  readonly slot: string;
  readonly held: number;
  readonly left: number;
}

export interface Ledgers {
  readonly sent: SentEntry[];
  readonly seen: ArrivalEntry[];
  readonly posted: PostEntry[];
  readonly lives: Life[];
  readonly faults: Fault[];
  readonly kills: WorkerKill[];
  readonly splits: Split[];
  /** Periods in which every mail server responded slowly, including the time that messages waited as a result. */
  readonly slow_times: { readonly from: number; readonly to: number }[];
  /** The times of all 202 responses. */
  readonly accepted: number[];
  /** The times of 5xx responses, and of requests without a response. */
  readonly failures: number[];
}

export function newLedgers(): Ledgers {
  return {
    sent: [],
    seen: [],
    posted: [],
    lives: [],
    faults: [],
    kills: [],
    splits: [],
    slow_times: [],
    accepted: [],
    failures: [],
  };
}
