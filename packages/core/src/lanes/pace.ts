import type { SendOutcome } from '@postrider/mail';

// As Postfix begins; RFC 5321 leaves a receiver free to answer 421 to any more.
const FIRST_CAP = 5;
/** The default limit of concurrent mails to a foreign site. */
export const MOST_CAP = 20;
/** Consecutive failures after which a lane is closed for a while. */
const FAILURES_TO_CLOSE = 5;
/** Doubles with each failed probe: a server that restarts is back in seconds. */
const FIRST_PAUSE_MS = 1000;
/** A connection that is refused costs next to nothing, so the probe is frequent. */
const REFUSED_PAUSE_MS = 1000;

/**
 * What an attempt says about its lane. taken: the mail was accepted. answered: the server works, whatever it said about
 * this mail. slowed: it asks for less for one recipient, which closes nothing, as many domains may share the lane.
 * pushed_back: it asks for less. failed: the session was not opened, or was lost. refused: nothing listens there.
 */
export type LaneNews = 'taken' | 'answered' | 'slowed' | 'pushed_back' | 'failed' | 'refused';

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

/** How fast a lane may send, derived from its attempts. */
export interface Pace {
  /** The limit of concurrent mails. */
  readonly cap: number;
  /** In a row. */
  readonly failures: number;
  /** How often it was closed since a mail last went through. */
  readonly closings: number;
}

export const FIRST_PACE: Pace = { cap: FIRST_CAP, failures: 0, closings: 0 };

/** Sends a single mail first; its result decides whether the lane closes again, for longer. */
export function reopened(closings: number): Pace {
  return { cap: 1, failures: 0, closings };
}

/** The pace after an attempt, and whether the lane closes. */
export function paceAfter(
  pace: Pace,
  news: LaneNews,
  most = MOST_CAP,
): { readonly pace: Pace; readonly closes: boolean } {
  if (news === 'taken') {
    return { pace: { cap: Math.min(most, pace.cap + 1), failures: 0, closings: 0 }, closes: false };
  }
  if (news === 'answered') return { pace: { ...pace, failures: 0 }, closes: false };
  if (news === 'slowed') return { pace: { ...pace, cap: Math.max(1, pace.cap >> 1), failures: 0 }, closes: false };
  const failures = pace.failures + 1;
  const closes = failures >= (pace.closings > 0 ? 1 : FAILURES_TO_CLOSE);
  return { pace: { ...pace, cap: Math.max(1, pace.cap >> 1), failures }, closes };
}

/** How long a lane stays closed after so many earlier closings. */
export function pauseMs(closings: number, news: LaneNews, longest_ms: number): number {
  if (news === 'refused') return REFUSED_PAUSE_MS;
  return Math.min(longest_ms, FIRST_PAUSE_MS * 2 ** Math.min(closings, 20));
}
