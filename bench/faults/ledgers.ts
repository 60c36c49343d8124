/** What a client knows of one request, by its idempotency key. */
export interface SentEntry {
  readonly key: string;
  /** False where it was sent without its key and once: what became of it is not known unless it was answered. */
  readonly keyed: boolean;
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
export interface ArrivalEntry {
  readonly message_id: string;
  readonly recipient: string;
  readonly outcome: SinkOutcome;
  /** Its answer waited, as the plan says. */
  readonly late: boolean;
  readonly at: number;
  readonly body_hash: string;
}

/** One post to a webhook endpoint. */
export interface PostEntry {
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
  max_memory_mb: number;
}

/** What a fault is made to. */
export type FaultOf = 'worker' | 'api' | 'database' | 'mail' | 'pause' | 'stop';

/** One fault as it was made. */
export interface Fault {
  readonly what: string;
  readonly of: FaultOf;
  readonly at: number;
  readonly ended_at: number;
}

/** What a worker was doing when it was killed, and what became of its mail. */
export interface WorkerKill {
  readonly slot: string;
  readonly at: number;
  readonly lived_ms: number;
  /** Since its start and since that of the one before it in its slot, as it was measured. */
  readonly start_ms: number;
  readonly since_last_kill_ms: number | null;
  readonly mails_per_second: number;
  /** Recipients that were open. */
  readonly backlog: number;
  /** What it might have sent and not recorded: the bound of its own, which it tells in its metrics; null if unasked. */
  readonly bound: number | null;
  /** Jobs that it held. */
  readonly held: number;
  /** When the last of these was in other hands or ended; null if that was not seen. */
  taken_over_at: number | null;
}

/** A worker that was stopped and cut off: the jobs that it held, and those of them that no other took over. */
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
  /** When every mail server answered slowly, and what waited for that. */
  readonly slow_times: { readonly from: number; readonly to: number }[];
  /** The times of all answers 202. */
  readonly accepted: number[];
  /** The times of answers 5xx, and of requests without an answer. */
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
