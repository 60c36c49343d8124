import type { SendOutcome } from '@postrider/mail';
import { type Classification, classify, type RefusalCategory } from './classify.ts';
import { retryDelay } from './retry.ts';

/** Why a mail failed that may have arrived. */
export const OUTCOME_UNKNOWN = 'outcome_unknown';

export type UnknownPolicy = 'resend' | 'stop';

/** What becomes of a recipient after an attempt. */
export type Verdict =
  | { readonly transition: 'accept' | 'hand_back' | 'expire'; readonly reason: string | null }
  | { readonly transition: 'reject'; readonly reason: string; readonly suppress: boolean }
  | { readonly transition: 'defer'; readonly reason: null; readonly delay_seconds: number };

/** Judges one attempt. attempt_count includes it. */
export function judgeOutcome(
  outcome: SendOutcome,
  attempt_count: number,
  schedule: readonly number[],
  unknown_policy: UnknownPolicy,
): Verdict {
  switch (outcome.kind) {
    case 'accepted':
      return { transition: 'accept', reason: null };
    case 'rejected': {
      // Without a reply nobody refused it: there was nothing to send. A domain that takes no mail has one.
      if (outcome.stage === 'connect' && outcome.reply === null)
        return { transition: 'expire', reason: 'content_gone' };
      const refusal = refusalOf(outcome);
      // Some servers say 5xx where they mean that a later attempt may pass.
      if (outcome.reply && refusal?.permanent === false) break;
      return { transition: 'reject', reason: refusal?.category ?? 'other', suppress: refusal?.suppress === true };
    }
    case 'unknown':
      // Sending again may deliver twice, stopping may deliver never; the workspace chooses.
      if (unknown_policy === 'stop') return { transition: 'expire', reason: OUTCOME_UNKNOWN };
      break;
    case 'deferred':
      break;
  }
  const delay_seconds = retryDelay(schedule, attempt_count);
  if (delay_seconds === null) return { transition: 'expire', reason: 'retries_exhausted' };
  return { transition: 'defer', reason: null, delay_seconds };
}

/** What a refusal means; null where nobody refused anything. kept_by is what kept the mail from every server. */
export function refusalOf(
  { kind, stage, reply, error }: SendOutcome,
  kept_by: RefusalCategory | null = null,
): Classification | null {
  if (kind === 'accepted' || (kind === 'rejected' && stage === 'connect' && !reply)) return null;
  // What is refused at MAIL is the sender.
  if (reply) return stage === 'mail' ? { ...classify(reply), suppress: false } : classify(reply);
  return { category: kept_by ?? 'network', permanent: kind === 'rejected', suppress: false, rule: error ?? 'no reply' };
}

/** What the last word of the other side was, for people. */
export function lastResponse({ reply, error }: Pick<SendOutcome, 'reply' | 'error'>): string {
  if (!reply) return error ?? 'no reply';
  return [reply.code, reply.enhanced, reply.text].filter((part) => part !== null && part !== '').join(' ');
}
