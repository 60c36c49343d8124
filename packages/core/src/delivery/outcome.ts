import type { SendOutcome } from '@postrider/mail';
import { type Classification, classify, type RefusalCategory } from './classify.ts';
import { retryDelay } from './retry.ts';

/** Reason for a failed mail that may have arrived. */
export const OUTCOME_UNKNOWN = 'outcome_unknown';

/** Each of these may have arrived; after so many a further copy is unlikely to help. */
const MAX_UNKNOWN = 3;
/** More attempts than that are counted although a worker was lost in them: the mail itself may be what ends it. */
const MAX_LOST = 20;

export type UnknownPolicy = 'resend' | 'stop';

/** The result of an attempt for its recipient. */
export type Verdict =
  | { readonly transition: 'deliver' | 'hand_back' | 'expire'; readonly reason: string | null }
  | { readonly transition: 'reject'; readonly reason: string; readonly suppress: boolean }
  | { readonly transition: 'defer'; readonly reason: null; readonly delay_seconds: number };

/** What an attempt is judged by, apart from its outcome. */
export interface Course {
  /** Including this attempt. */
  readonly attempt_count: number;
  /** Earlier attempts after which the mail may have arrived. */
  readonly unknown_before: number;
  /** Earlier attempts that ended with their worker, most of them before a server was reached. */
  readonly lost_before: number;
  /** DNS has said often and long enough that the domain does not exist. */
  readonly domain_is_missing: boolean;
  readonly schedule: readonly number[];
  readonly unknown_policy: UnknownPolicy;
}

/** Decides the outcome of one attempt. */
export function judgeOutcome(outcome: SendOutcome, course: Course): Verdict {
  const { attempt_count, unknown_before, lost_before, domain_is_missing, schedule, unknown_policy } = course;
  switch (outcome.kind) {
    case 'accepted':
      return { transition: 'deliver', reason: null };
    case 'rejected': {
      // Without a reply nothing was refused: there was nothing to send. A domain with a null MX has one.
      if (outcome.stage === 'connect' && outcome.reply === null)
        return { transition: 'expire', reason: 'content_gone' };
      const refusal = refusalOf(outcome);
      // Some servers say 5xx although a later attempt may succeed.
      if (outcome.reply && refusal?.permanent === false) break;
      const suppress = refusal?.suppress === true && !isAboutDomain(outcome, refusal);
      return { transition: 'reject', reason: refusal?.category ?? 'other', suppress };
    }
    case 'unknown':
      // A retry may deliver twice, giving up may deliver never; the workspace chooses.
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
 * What is wrong with a domain says nothing about an address in it. Exchange answers 5.1.10 to a recipient that it does
 * not know, though.
 */
function isAboutDomain({ stage, reply }: SendOutcome, { category }: Classification): boolean {
  return stage === 'connect' || (category === 'domain' && reply?.enhanced !== '5.1.10');
}

/** No mail server was found in DNS, which may be temporary. */
export function isMissingDomain({ kind, stage, target, reply }: SendOutcome): boolean {
  return kind === 'deferred' && stage === 'connect' && target === '' && reply !== null;
}

/** The meaning of a refusal; null if nothing was refused. kept_by is what stopped the mail before any server. */
export function refusalOf(
  { kind, stage, reply, error }: SendOutcome,
  kept_by: RefusalCategory | null = null,
): Classification | null {
  if (kind === 'accepted' || (kind === 'rejected' && stage === 'connect' && !reply)) return null;
  // A refusal of MAIL is about the sender.
  if (reply && stage === 'mail') return { ...classify(reply), hard: false, suppress: false };
  if (reply) {
    const read = classify(reply);
    // A reply before RCPT that speaks of something unknown means the domain.
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

/** The last reply or error, for display. */
export function lastResponse({ reply, error }: Pick<SendOutcome, 'reply' | 'error'>): string {
  if (!reply) return error ?? 'no reply';
  return [reply.code, reply.enhanced, reply.text].filter((part) => part !== null && part !== '').join(' ');
}

/** An attempt that sent nothing, for this reason. */
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
