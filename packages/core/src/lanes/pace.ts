import type { SendOutcome } from '@postrider/mail';

// Postfix also starts with 5 (initial_destination_concurrency); RFC 5321 lets a receiver reject further connections
// with 421.
const FIRST_CAP = 5;
/** The default limit of concurrent messages to a foreign site. */
export const MAX_CAP = 20;
/**
 * The maximum of `patience`, the number of messages that must be accepted before the cap grows by one. Patience doubles
 * with each push-back.
 */
const MAX_PATIENCE = 64;
/** Consecutive failures after which a lane is closed for a while. */
const FAILURES_TO_CLOSE = 5;
/** Doubles with each failed probe: a server that restarts is usually back within seconds. */
const FIRST_PAUSE_MS = 1000;
/** A refused connection costs next to nothing, so probes are frequent. */
const REFUSED_PAUSE_MS = 1000;

/**
 * The result of an attempt as far as it concerns the lane. taken: the server accepted the message. answered: the server
 * works, whatever its reply about this message. crowded: the server rejected one more session while others from this
 * lane were open; the lane stays open. slowed: the server requests a lower rate for one recipient; the lane stays open,
 * because many domains may share it. pushed_back: the server requests a lower rate. failed: the session was not opened
 * or was lost. refused: nothing listens at the address.
 */
export type LaneNews = 'taken' | 'answered' | 'crowded' | 'slowed' | 'pushed_back' | 'failed' | 'refused';

/** Returns the result of an attempt for its lane; null if the attempt did not reach a server. */
export function laneNews({ kind, stage, reply, error, target, tls_policy }: SendOutcome): LaneNews | null {
  if (target === '') return null;
  if (kind === 'accepted') return 'taken';
  // The server works; only the MTA-STS policy of the recipient's domain prevented the session.
  if (stage === 'connect' && tls_policy === 'mta-sts') return 'answered';
  if (reply === null) {
    if (kind === 'rejected') return 'answered';
    return stage === 'connect' && error?.includes('ECONNREFUSED') ? 'refused' : 'failed';
  }
  const throttled = (reply.code === 450 || reply.code === 451) && reply.enhanced?.startsWith('4.7.');
  if (throttled && stage === 'rcpt') return 'slowed';
  if (reply.code === 421 || throttled) return 'pushed_back';
  return kind === 'deferred' && stage === 'connect' ? 'failed' : 'answered';
}

/** Returns whether the server rejected the session because too many are already open. */
export function isTurnedAway({ kind, stage, reply }: Pick<SendOutcome, 'kind' | 'stage' | 'reply'>): boolean {
  return kind === 'deferred' && stage === 'connect' && reply?.code === 421;
}

/** The rate at which a lane may send, derived from its attempts. */
export interface Pace {
  /** The limit on concurrent messages. */
  readonly cap: number;
  /** Consecutive failures. */
  readonly failures: number;
  /** Closings since a message was last accepted. */
  readonly closings: number;
  /** How many messages must be accepted before the cap grows. */
  readonly patience: number;
  /** Messages accepted since the cap last changed. */
  readonly taken: number;
}

export const FIRST_PACE: Pace = { cap: FIRST_CAP, failures: 0, closings: 0, patience: 1, taken: 0 };

/**
 * Returns the pace of a reopened lane. It sends a single message first, whose result decides whether the lane closes
 * again, for longer.
 */
export function reopened({ patience }: Pace, closings: number): Pace {
  return { cap: 1, failures: 0, closings, patience, taken: 0 };
}

/** Returns the pace after an attempt and whether the lane closes. */
export function paceAfter(
  pace: Pace,
  event: LaneNews,
  max = MAX_CAP,
): { readonly pace: Pace; readonly closes: boolean } {
  if (event === 'taken') {
    return { pace: { ...grown(pace, max), failures: 0, closings: 0 }, closes: false };
  }
  if (event === 'answered') return { pace: { ...pace, failures: 0 }, closes: false };
  const less = { ...pace, cap: Math.max(1, pace.cap >> 1), taken: 0 };
  if (event === 'slowed') return { pace: { ...less, failures: 0 }, closes: false };
  const pushed = event === 'crowded' || event === 'pushed_back';
  const patience = pushed ? Math.min(MAX_PATIENCE, pace.patience * 2) : pace.patience;
  if (event === 'crowded') return { pace: { ...less, patience }, closes: false };
  const failures = pace.failures + 1;
  const closes = failures >= (pace.closings > 0 ? 1 : FAILURES_TO_CLOSE);
  return { pace: { ...less, failures, patience }, closes };
}

function grown(pace: Pace, max: number): Pace {
  const count = pace.taken + 1;
  if (count < pace.patience) return { ...pace, taken: count };
  const cap = Math.min(max, pace.cap + 1);
  return { ...pace, cap, taken: 0, patience: cap === max ? 1 : pace.patience };
}

/** Returns how long a lane stays closed after this many earlier closings. */
export function pauseMs(closings: number, event: LaneNews, longest_ms: number): number {
  if (event === 'refused') return REFUSED_PAUSE_MS;
  return Math.min(longest_ms, FIRST_PAUSE_MS * 2 ** Math.min(closings, 20));
}
