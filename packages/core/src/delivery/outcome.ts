import type { SendOutcome } from '@postrider/mail';
import { type Classification, classify, type RefusalCategory } from './classify.ts';
import { retryDelay } from './retry.ts';

/** Failure reason of a message that may have arrived. */
export const OUTCOME_UNKNOWN = 'outcome_unknown';

/** After this many attempts that may each have delivered the message, another copy is unlikely to help. */
const MAX_UNKNOWN = 3;
/** Beyond this many, attempts lost with their worker count as well: the message itself may be crashing the workers. */
const MAX_LOST = 20;

export type UnknownPolicy = 'resend' | 'stop';

/** The result of an attempt for its recipient. */
export type Verdict =
  | { readonly transition: 'deliver' | 'hand_back' | 'expire'; readonly reason: string | null }
  | { readonly transition: 'reject'; readonly reason: string; readonly suppress: boolean }
  | { readonly transition: 'defer'; readonly reason: null; readonly delay_seconds: number };

/** The facts by which an attempt is judged, in addition to its outcome. */
export interface Course {
  /** Includes this attempt. */
  readonly attempt_count: number;
  /** Earlier attempts after which the message may have arrived. */
  readonly unknown_before: number;
  /** Earlier attempts lost with their worker, most of them before a server was reached. */
  readonly lost_before: number;
  /** Whether DNS has reported the domain as nonexistent often enough, and for long enough, to believe it. */
  readonly domain_is_missing: boolean;
  readonly schedule: readonly number[];
  readonly unknown_policy: UnknownPolicy;
}

/** Decides the result of one attempt. */
export function judgeOutcome(outcome: SendOutcome, course: Course): Verdict {
  const { attempt_count, unknown_before, lost_before, domain_is_missing, schedule, unknown_policy } = course;
  switch (outcome.kind) {
    case 'accepted':
      return { transition: 'deliver', reason: null };
    case 'rejected': {
      // Without a reply no server rejected the message: its content is gone. A domain with a null MX has a reply.
      if (outcome.stage === 'connect' && outcome.reply === null)
        return { transition: 'expire', reason: 'content_gone' };
      const refusal = refusalOf(outcome);
      // Some servers reply 5xx although a later attempt may succeed.
      if (outcome.reply && refusal?.permanent === false) break;
      const suppress = refusal?.suppress === true && !isAboutDomain(outcome, refusal);
      return { transition: 'reject', reason: refusal?.category ?? 'other', suppress };
    }
    case 'unknown':
      // Retrying may deliver the message twice, and giving up may mean that it is never delivered, so the workspace
      // chooses.
      if (unknown_policy === 'stop' || unknown_before + 1 >= MAX_UNKNOWN)
        return { transition: 'expire', reason: OUTCOME_UNKNOWN };
      break;
    case 'deferred':
      if (isMissingDomain(outcome) && domain_is_missing)
        return { transition: 'reject', reason: 'domain', suppress: false };
      break;
  }
  const delay_seconds = retryDelay(schedule, attempt_count - Math.min(lost_before, MAX_LOST));
  if (delay_seconds === null) {
    const may_have_arrived = outcome.kind === 'unknown' || unknown_before > 0;
    return { transition: 'expire', reason: may_have_arrived ? OUTCOME_UNKNOWN : 'retries_exhausted' };
  }
  return { transition: 'defer', reason: null, delay_seconds };
}

/**
 * Returns whether a rejection is about the domain, which says nothing about an address in it. Exchange replies 5.1.10
 * for an unknown recipient, though.
 */
function isAboutDomain({ stage, reply }: SendOutcome, { category }: Classification): boolean {
  return stage === 'connect' || (category === 'domain' && reply?.enhanced !== '5.1.10');
}

/** Returns whether DNS has no mail server for the domain, which may be temporary. */
export function isMissingDomain({ kind, stage, target, reply }: SendOutcome): boolean {
  return kind === 'deferred' && stage === 'connect' && target === '' && reply !== null;
}

/**
 * Returns the meaning of a rejection; null if nothing was rejected. kept_by is the category of a message that was
 * stopped before any server was tried.
 */
export function refusalOf(
  { kind, stage, reply, error }: SendOutcome,
  kept_by: RefusalCategory | null = null,
): Classification | null {
  if (kind === 'accepted' || (kind === 'rejected' && stage === 'connect' && !reply)) return null;
  // A rejection of MAIL is about the sender.
  if (reply && stage === 'mail') return { ...classify(reply), hard: false, suppress: false };
  if (reply) {
    const read = classify(reply);
    // Before RCPT the server has not seen a mailbox, so an "unknown" reply can only mean the domain.
    return stage === 'connect' && read.category === 'mailbox' ? { ...read, category: 'domain', suppress: false } : read;
  }
  return {
    category: kept_by ?? 'network',
    permanent: kind === 'rejected',
    hard: false,
    suppress: false,
    rule: error ?? 'no reply',
    weak: true,
  };
}

/** Returns the last reply or error, for display. */
export function lastResponse({ reply, error }: Pick<SendOutcome, 'reply' | 'error'>): string {
  if (!reply) return error ?? 'no reply';
  return [reply.code, reply.enhanced, reply.text].filter((part) => part !== null && part !== '').join(' ');
}

/** Returns the outcome of an attempt that sent nothing, with this reason. */
export function nothingSent(error: string): SendOutcome {
  return {
    kind: 'deferred',
    reply: null,
    error,
    target: '',
    address: null,
    tls: null,
    tls_policy: null,
    phases_ms: { connect: 0, tls: 0, mail: 0, data: 0 },
    stage: 'connect',
    transcript: '',
  };
}
