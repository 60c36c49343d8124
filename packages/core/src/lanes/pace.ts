import type { SendOutcome } from '@postrider/mail';

// As Postfix begins; RFC 5321 leaves a receiver free to answer 421 to any more.
const FIRST_CAP = 5;
/** Where the way there says nothing else: what a site of strangers takes at once. */
export const MOST_CAP = 20;
/** Failures in a row, without an answer in between, after which a lane is left alone for a moment. */
const FAILURES_TO_CLOSE = 5;
/** It doubles with each probe that fails: a server that restarts is back in seconds. */
const FIRST_PAUSE_MS = 1000;
/** To find out whether a server that refuses connections does so still costs it and us next to nothing. */
const REFUSED_PAUSE_MS = 1000;

/**
 * What an attempt tells of its lane. taken: a mail went through. answered: the server works, whatever it said of
 * this mail. slowed: it asks for less for one recipient, which closes nothing, as many domains may share the lane and
 * one of them may be a stranger to the server. pushed_back: it asks for less. failed: no session came about, or it was
 * lost. refused: nothing listens there.
 */
export type LaneNews = 'taken' | 'answered' | 'slowed' | 'pushed_back' | 'failed' | 'refused';

/** Null where the attempt reached for no server, so that the mail itself or its domain was at fault. */
export function laneNews({ kind, stage, reply, error, target, tls_policy }: SendOutcome): LaneNews | null {
  if (target === '') return null;
  if (kind === 'accepted') return 'taken';
  // The server was there; the policy of the recipient's domain alone forbade the session.
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

/** How fast a lane may go, from what its attempts have told. */
export interface Pace {
  /** How many may be sent at once. */
  readonly cap: number;
  /** In a row. */
  readonly failures: number;
  /** How often it was closed since a mail last went through. */
  readonly closings: number;
}

export const FIRST_PACE: Pace = { cap: FIRST_CAP, failures: 0, closings: 0 };

/** One at first; what becomes of it decides whether the lane closes again, for longer. */
export function reopened(closings: number): Pace {
  return { cap: 1, failures: 0, closings };
}

/** The pace after an attempt, and whether it ends in a pause. */
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

/** How long the pause after so many earlier ones lasts. */
export function pauseMs(closings: number, news: LaneNews, longest_ms: number): number {
  if (news === 'refused') return REFUSED_PAUSE_MS;
  return Math.min(longest_ms, FIRST_PAUSE_MS * 2 ** Math.min(closings, 20));
}
