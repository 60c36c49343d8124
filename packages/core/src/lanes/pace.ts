import type { SendOutcome } from '@postrider/mail';

// Postfix starts with 5 as well (initial_destination_concurrency); RFC 5321 lets a receiver answer 421 to any more.
const FIRST_CAP = 5;
/** The default limit of concurrent mails to a foreign site. */
export const MAX_CAP = 20;
/**
 * After a push-back, this many mails at most must be taken before the cap grows by one; the number doubles each time.
 */
const MAX_PATIENCE = 64;
/** Consecutive failures after which a lane is closed for a while. */
const FAILURES_TO_CLOSE = 5;
/** Doubles with each failed probe: a server that restarts is back in seconds. */
const FIRST_PAUSE_MS = 1000;
/** A connection that is refused costs next to nothing, so the probe is frequent. */
const REFUSED_PAUSE_MS = 1000;

/**
 * What an attempt says about its lane. taken: the mail was accepted. answered: the server works, whatever it said about
 * this mail. crowded: it refused one session more than it has of this lane, which closes nothing. slowed: it asks for less for one recipient, which closes nothing, as many domains may share the lane.
 * pushed_back: it asks for less. failed: the session was not opened, or was lost. refused: nothing listens there.
 */
export type LaneNews = 'taken' | 'answered' | 'crowded' | 'slowed' | 'pushed_back' | 'failed' | 'refused';

/** Null if the attempt did not get as far as a server. */
export function laneNews({ kind, stage, reply, error, target, tls_policy }: SendOutcome): LaneNews | null {
  if (target === '') return null;
  if (kind === 'accepted') return 'taken';
  // The server works; only the MTA-STS policy of the recipient's domain forbade the session.
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

/** The server took no session, because it has too many. */
export function isTurnedAway({ kind, stage, reply }: Pick<SendOutcome, 'kind' | 'stage' | 'reply'>): boolean {
  return kind === 'deferred' && stage === 'connect' && reply?.code === 421;
}

/** How fast a lane may send, derived from its attempts. */
export interface Pace {
  /** The limit of concurrent mails. */
  readonly cap: number;
  /** Consecutive failures. */
  readonly failures: number;
  /** Closings since a mail last went through. */
  readonly closings: number;
  /** How many mails must be taken before the cap grows. */
  readonly patience: number;
  /** Mails taken since the cap last changed. */
  readonly taken: number;
}

export const FIRST_PACE: Pace = { cap: FIRST_CAP, failures: 0, closings: 0, patience: 1, taken: 0 };

/** Sends a single mail first; its result decides whether the lane closes again, for longer. */
export function reopened({ patience }: Pace, closings: number): Pace {
  return { cap: 1, failures: 0, closings, patience, taken: 0 };
}

/** The pace after an attempt, and whether the lane closes. */
export function paceAfter(
  pace: Pace,
  news: LaneNews,
  most = MAX_CAP,
): { readonly pace: Pace; readonly closes: boolean } {
  if (news === 'taken') {
    return { pace: { ...grown(pace, most), failures: 0, closings: 0 }, closes: false };
  }
  if (news === 'answered') return { pace: { ...pace, failures: 0 }, closes: false };
  const less = { ...pace, cap: Math.max(1, pace.cap >> 1), taken: 0 };
  if (news === 'slowed') return { pace: { ...less, failures: 0 }, closes: false };
  const pushed = news === 'crowded' || news === 'pushed_back';
  const patience = pushed ? Math.min(MAX_PATIENCE, pace.patience * 2) : pace.patience;
  if (news === 'crowded') return { pace: { ...less, patience }, closes: false };
  const failures = pace.failures + 1;
  const closes = failures >= (pace.closings > 0 ? 1 : FAILURES_TO_CLOSE);
  return { pace: { ...less, failures, patience }, closes };
}

function grown(pace: Pace, most: number): Pace {
  const count = pace.taken + 1;
  if (count < pace.patience) return { ...pace, taken: count };
  const cap = Math.min(most, pace.cap + 1);
  return { ...pace, cap, taken: 0, patience: cap === most ? 1 : pace.patience };
}

/** How long a lane stays closed after this many earlier closings. */
export function pauseMs(closings: number, news: LaneNews, longest_ms: number): number {
  if (news === 'refused') return REFUSED_PAUSE_MS;
  return Math.min(longest_ms, FIRST_PAUSE_MS * 2 ** Math.min(closings, 20));
}
