import type { SenderFacts } from '../api-keys/index.ts';
import { keyDomainProblem } from '../api-keys/index.ts';
import { type SendableFacts, sendableProblem } from '../domains/index.ts';
import { isoTime } from '../fields/clock.ts';
import { AppError, type Reason } from '../operation/errors.ts';
import type { Config } from '../process/config.ts';
import { type Addressee, addresseesOf } from './addressees.ts';
import type { SendInput } from './schema.ts';

const PAST_TOLERANCE_MS = 60_000;
const MAX_DAYS_AHEAD = 366;

/** Facts read before the storing statement, which checks the limit again. */
export interface AcceptFacts {
  readonly now: Date;
  readonly resets_at: Date;
  domain(workspace_id: string, name: string): SendableFacts | undefined;
  suppressed(workspace_id: string, email: string): boolean;
  /** Emails this month, including those accepted earlier in the batch. */
  used(workspace_id: string): number;
}

export interface Decision {
  readonly addressees: readonly Addressee[];
  /** Null means now. */
  readonly scheduled_at: Date | null;
  readonly counted: number;
}

/** The errors of judge. */
export const judgedReasons: readonly Reason[] = [
  'key_domain_restricted',
  'domain_not_verified',
  'scheduled_in_past',
  'scheduled_too_far',
  'recipient_cap_exceeded',
  'all_recipients_suppressed',
  'quota_exceeded',
];

/** Judges one message in the contract's order; the first rule that fails determines the error. */
export function judge(input: SendInput, sender: SenderFacts, facts: AcceptFacts, config: Config): Decision | AppError {
  const { workspace_id } = sender;
  const restricted = keyDomainProblem(sender.domains, input.from.domain);
  if (restricted) return restricted;
  const domainProblem = sendableProblem(
    input.from.domain,
    facts.domain(workspace_id, input.from.domain),
    sender.mode,
    config,
  );
  if (domainProblem) return domainProblem;
  const schedule = scheduleOf(input.scheduled_at, facts.now);
  if (schedule instanceof AppError) return schedule;
  const addressees = addresseesOf(input, (email) => facts.suppressed(workspace_id, email));
  if (addressees.length > sender.recipient_cap) {
    return new AppError(
      'recipient_cap_exceeded',
      `${addressees.length} unique recipients, but the ${sender.plan} plan allows ${sender.recipient_cap} per request. Split the message.`,
      { extra: { limit: sender.recipient_cap, recipients: addressees.length } },
    );
  }
  const count = addressees.filter((addressee) => !addressee.suppressed).length;
  if (count === 0) {
    return new AppError(
      'all_recipients_suppressed',
      "Every recipient is on this workspace's suppression list. Remove one with DELETE /v1/suppressions/{email}, or send to another address.",
    );
  }
  if (sender.mode === 'sandbox') return { addressees, scheduled_at: schedule, counted: 0 };
  const used = facts.used(workspace_id);
  if (sender.monthly_limit !== null && used + count > sender.monthly_limit) {
    return new AppError(
      'quota_exceeded',
      `The ${sender.plan} plan allows ${sender.monthly_limit} emails per month. ${used} are used, and this request needs ${count}. Wait until next month or change the plan.`,
      { extra: { limit: sender.monthly_limit, used, resets_at: isoTime(facts.resets_at) } },
    );
  }
  return { addressees, scheduled_at: schedule, counted: count };
}

/** Returns the scheduled time, null for now, or an error. */
export function scheduleOf(value: Date | undefined, now: Date): Date | null | AppError {
  if (!value) return null;
  const ahead = value.getTime() - now.getTime();
  if (ahead < -PAST_TOLERANCE_MS)
    return new AppError(
      'scheduled_in_past',
      'scheduled_at is more than 60 s in the past. Use a future time or omit it.',
    );
  if (ahead > MAX_DAYS_AHEAD * 86_400_000)
    return new AppError(
      'scheduled_too_far',
      `scheduled_at is more than ${MAX_DAYS_AHEAD} days in the future. Use an earlier time.`,
    );
  return ahead > 0 ? value : null;
}
