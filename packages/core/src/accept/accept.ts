import { type Sql, sqlState } from '@postrider/db';
import { formatMailbox } from '@postrider/mail';
import { keyDomainProblem } from '../api-keys/index.ts';
import { isoTime } from '../fields/clock.ts';
import { newId, newJobId } from '../fields/ids.ts';
import { AppError } from '../operation/errors.ts';
import type { KeyMode } from '../operation/secrets.ts';
import { emailsOf } from './addressees.ts';
import { attachmentsText } from './attachment-field.ts';
import { type AcceptFacts, type Decision, judge } from './judge.ts';
import type { NewMessage, NewRecipient } from './new-message.ts';
import type { SendInput } from './schema.ts';
import {
  awaitStandby,
  claimName,
  type FoundFacts,
  type KeyClaim,
  loadAnswers,
  readFacts,
  type Storing,
  storeAccepted,
} from './store.ts';
import type { AcceptParts, AdmittedSubmission, SendResult, Submission, SubmissionResponse } from './submission.ts';

// SQLSTATE raised by raise_quota_race() in the schema.
const QUOTA_RACE = 'PR001';
const MAX_TRIES = 50;

/** A concurrent duplicate was committed first: judging the submission again replays the stored response. */
export type Outcome = SubmissionResponse | 'judge_again';

/** A submission with its workspace; its key may not have been checked yet. */
export interface WorkspaceSubmission {
  readonly workspace_id: string;
  readonly mode: KeyMode;
  readonly submission: Submission;
}

export interface BatchFacts extends AcceptFacts {
  readonly facts: Pick<FoundFacts, 'epoch' | 'domains' | 'suppressed'>;
  earlier(located: WorkspaceSubmission): Pick<KeyClaim, 'fingerprint' | 'answer'> | undefined;
  spend(workspace_id: string, count: number): void;
}

/** Reads the facts needed for judging. The statements are pipelined on one connection instead of awaited in turn. */
export async function loadFacts(sql: Sql, located: readonly WorkspaceSubmission[]): Promise<BatchFacts> {
  const inputs = located.flatMap(({ workspace_id, submission }) =>
    submission.messages.flatMap((message) => (message.ok ? [{ workspace_id, input: message.value }] : [])),
  );
  const keyed = located.flatMap((one) => idempotencyKeyOf(one) ?? []);
  const [facts, responses] = await Promise.all([
    readFacts(sql, {
      workspace_ids: [...new Set(located.map(({ workspace_id }) => workspace_id))],
      domains: unique(inputs.map(({ workspace_id, input }) => ({ workspace_id, name: input.from.domain }))),
      emails: inputs.flatMap(({ workspace_id, input }) => emailsOf(input).map((email) => ({ workspace_id, email }))),
    }),
    loadAnswers(sql, keyed),
  ]);
  const { now, used } = facts;
  return {
    facts,
    now,
    resets_at: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)),
    domain: (workspace_id, name) => facts.domains.get(`${workspace_id} ${name}`),
    suppressed: (workspace_id, email) => facts.suppressed.has(`${workspace_id} ${email}`),
    used: (workspace_id) => used.get(workspace_id) ?? 0,
    spend: (workspace_id, count) => used.set(workspace_id, (used.get(workspace_id) ?? 0) + count),
    earlier: (one) => {
      const key = idempotencyKeyOf(one);
      return key === null ? undefined : responses.get(claimName(key));
    },
  };
}

function unique(names: readonly { workspace_id: string; name: string }[]) {
  return [...new Map(names.map((ask) => [`${ask.workspace_id} ${ask.name}`, ask])).values()];
}

/**
 * Judges many submissions against facts that were just read, and stores those that pass in one statement: message,
 * recipients, body, event, usage, idempotency record and job are committed together, before the caller responds. If
 * another process has used up a monthly limit since the facts were read, nothing is stored and everything is judged
 * again against new facts. Each retry means that other messages were accepted, so the retries terminate.
 */
export async function commitSubmissions(
  parts: AcceptParts,
  sql: Sql,
  submissions: readonly AdmittedSubmission[],
  facts: BatchFacts,
): Promise<Outcome[]> {
  for (let attempt = 1, known = facts; ; attempt++) {
    try {
      return await judgeAndStore(parts, sql, submissions, known);
    } catch (error) {
      if (sqlState(error) !== QUOTA_RACE || attempt === MAX_TRIES) throw error;
      known = await loadFacts(sql, submissions.map(withWorkspace));
    }
  }
}

export function withWorkspace(submission: AdmittedSubmission): WorkspaceSubmission {
  const { workspace_id, mode } = submission.sender;
  return { workspace_id, mode, submission };
}

/**
 * Identifies an idempotency key. The mode is included because sandbox messages reach no recipient: the response differs
 * from that of a live request with the same key.
 */
export function idempotencyKeyOf({
  workspace_id,
  mode,
  submission: { idempotency },
}: WorkspaceSubmission): Pick<KeyClaim, 'workspace_id' | 'operation' | 'key'> | null {
  if (idempotency === null) return null;
  const { operation, key } = idempotency;
  return { workspace_id, operation: mode === 'sandbox' ? `${operation} sandbox` : operation, key };
}

async function judgeAndStore(
  parts: AcceptParts,
  sql: Sql,
  submissions: readonly AdmittedSubmission[],
  facts: BatchFacts,
): Promise<Outcome[]> {
  const claims: KeyClaim[] = [];
  const storing: Storing[] = [];
  const claimOf = new Map<AdmittedSubmission, number>();
  const outcomes = submissions.map((submission): Outcome => {
    const before = facts.earlier(withWorkspace(submission));
    if (before) return replay(submission, before);
    const verdicts = submission.messages.map((parsed) => judgeOne(parts, submission, parsed, facts));
    const results = verdicts.map(resultOf);
    const refusal = submission.refusal(results.map((result) => (result instanceof AppError ? result : null)));
    if (refusal) {
      returnVolume(submission, verdicts, facts);
      return { kind: 'refused', error: refusal };
    }
    let claim: number | null = null;
    const key = idempotencyKeyOf(withWorkspace(submission));
    if (submission.idempotency && key) {
      const { fingerprint, remember } = submission.idempotency;
      claim = claims.push({ ...key, fingerprint, answer: remember(results) });
      claimOf.set(submission, claim);
    }
    for (const message of verdicts) {
      if (message instanceof AppError) continue;
      storing.push({ message, claim, audit: submission.resend?.audit(message.id) ?? [] });
    }
    return { kind: 'judged', results };
  });
  if (storing.length === 0 && claims.length === 0) {
    // The first request may have failed because no standby had its commit. A replay must not succeed until a standby
    // has it.
    if (outcomes.some((outcome) => outcome !== 'judge_again' && outcome.kind === 'replayed')) await awaitStandby(sql);
    return outcomes;
  }
  const won = await storeAccepted(sql, parts.jobs, claims, storing);
  if (storing.some(({ message }) => message.scheduled_at === null)) parts.jobs.wakeAll('delivery.attempt');
  return outcomes.map((outcome, index) => {
    const submission = submissions[index];
    const claim = submission && claimOf.get(submission);
    return claim === undefined || won.has(claim) ? outcome : 'judge_again';
  });
}

function judgeOne(
  parts: AcceptParts,
  submission: AdmittedSubmission,
  parsed: Submission['messages'][number],
  facts: BatchFacts,
): NewMessage | AppError {
  if (!parsed.ok) return parsed.error;
  const outcome = judge(parsed.value, submission.sender, facts, parts.config);
  if (outcome instanceof AppError) return outcome;
  facts.spend(submission.sender.workspace_id, outcome.counted);
  return draftMessage(parts, submission, parsed.value, outcome, facts.now);
}

/**
 * Gives back the volume reserved by a request that was rejected after all, so that later requests in the batch can use
 * it.
 */
function returnVolume(
  { sender }: AdmittedSubmission,
  outcomes: readonly (NewMessage | AppError)[],
  facts: BatchFacts,
): void {
  for (const message of outcomes)
    if (!(message instanceof AppError)) facts.spend(sender.workspace_id, -message.counted);
}

function resultOf(outcome: NewMessage | AppError): SendResult {
  if (outcome instanceof AppError) return outcome;
  return { id: outcome.id, status: 'queued', created_at: isoTime(outcome.created_at) };
}

function replay(submission: AdmittedSubmission, before: Pick<KeyClaim, 'fingerprint' | 'answer'>): Outcome {
  for (const message of submission.messages) {
    const restricted = message.ok ? keyDomainProblem(submission.sender.domains, message.value.from.domain) : null;
    if (restricted) return { kind: 'refused', error: restricted };
  }
  if (submission.idempotency?.isSame(before.fingerprint)) return { kind: 'replayed', answer: before.answer };
  return {
    kind: 'refused',
    error: new AppError(
      'idempotency_mismatch',
      'This Idempotency-Key was used with a different body. Use a new key for a new message.',
    ),
  };
}

/** Builds the rows of an accepted message without storing them. */
export function draftMessage(
  parts: Pick<AcceptParts, 'clock'>,
  submission: AdmittedSubmission,
  input: SendInput,
  decision: Decision,
  now: Date,
): NewMessage {
  const now_ms = parts.clock.now();
  const state = decision.scheduled_at ? 'scheduled' : 'queued';
  const attachments = attachmentsText(input.attachments);
  // Ids generated in the same millisecond are unordered; sorting them preserves the order of the addressees.
  const ids = decision.addressees.map(() => newId('recipient', now_ms)).sort();
  const recipients = decision.addressees.map(
    (addressee, index): NewRecipient => ({
      ...addressee,
      id: ids[index] ?? newId('recipient', now_ms),
      state: addressee.suppressed ? 'suppressed' : state,
      job_id: addressee.suppressed ? null : newJobId(now_ms),
      event_id: addressee.suppressed ? newId('event', now_ms) : null,
    }),
  );
  return {
    workspace_id: submission.sender.workspace_id,
    id: newId('message', now_ms),
    event_id: newId('event', now_ms),
    status: state,
    mode: submission.sender.mode,
    from_address: formatMailbox(input.from),
    from_email: input.from.email,
    from_domain: input.from.domain,
    to_addresses: input.to.map(formatMailbox),
    cc_addresses: input.cc.map(formatMailbox),
    bcc_addresses: input.bcc.map(formatMailbox),
    reply_to: input.reply_to ? formatMailbox(input.reply_to) : null,
    subject: input.subject,
    tags: [...new Set(input.tags)],
    metadata: JSON.stringify(input.metadata),
    html: input.html ?? null,
    text: input.text ?? null,
    headers: JSON.stringify(input.headers),
    attachments,
    body_bytes: (input.html?.length ?? 0) + (input.text?.length ?? 0) + attachments.length,
    priority: input.priority,
    retain: input.retain,
    sealed: submission.sealed ?? false,
    api_key_id: submission.sender.key_id,
    request_id: submission.request_id,
    resend_of: submission.resend?.message_id ?? null,
    trace_parent: submission.trace,
    created_at: now,
    scheduled_at: decision.scheduled_at,
    counted: decision.counted,
    monthly_limit: submission.sender.monthly_limit,
    recipients,
  };
}
