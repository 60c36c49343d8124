import { createHash, randomUUID } from 'node:crypto';
import { type Tx, transactionTime } from '@postrider/db';
import { formatMailbox } from '@postrider/mail';
import { isoTime } from '../clock.ts';
import { AppError } from '../errors.ts';
import { newId } from '../ids.ts';
import type { AcceptParts, Admitted, SendResult, SubmissionAnswer } from './accept-line.ts';
import { emailsOf } from './addressees.ts';
import { type AcceptFacts, type Judged, judge } from './judge.ts';
import type { SendInput } from './schema.ts';
import {
  addUsage,
  answeredBefore,
  claimIdempotencyKeys,
  insertMessages,
  loadDomains,
  loadSuppressions,
  lockUsage,
  type NewMessage,
  type NewRecipient,
} from './store.ts';

type Outcome = SubmissionAnswer | 'twin_committed';

/**
 * The heart of the service: judges many submissions and stores what passed, in one transaction and one
 * statement per step. Message, recipients, body, event, quota, idempotency record and job commit together,
 * and the caller answers only after that.
 */
export async function commitSubmissions(parts: AcceptParts, submissions: readonly Admitted[]): Promise<Outcome[]> {
  const { outcomes, due } = await parts.sql.begin(async (tx) => {
    const drafts = submissions.map((submission) => ({
      submission,
      results: [] as SendResult[],
      messages: [] as NewMessage[],
    }));
    const { facts, earlier } = await loadFacts(tx, submissions);
    const fresh: typeof drafts = [];
    const outcomes = drafts.map((draft, index): Outcome => {
      const before = earlier[index];
      if (before) return replay(draft.submission, before);
      for (const parsed of draft.submission.messages) {
        const judged = parsed.ok ? judge(parsed.value, draft.submission.sender, facts, parts.config) : parsed.error;
        if (parsed.ok && !(judged instanceof AppError)) {
          const message = newMessage(parts, draft.submission, parsed.value, judged, facts.now);
          draft.messages.push(message);
          facts.spend(draft.submission.sender.workspace_id, judged.counted);
          draft.results.push({ id: message.id, status: 'queued', created_at: isoTime(facts.now) });
        } else if (judged instanceof AppError) draft.results.push(judged);
      }
      const [sole] = draft.results;
      if (draft.submission.alone && sole instanceof AppError) return { kind: 'refused', error: sole };
      fresh.push(draft);
      return { kind: 'judged', results: draft.results };
    });
    const lost = await claimKeys(tx, fresh);
    for (const draft of lost) outcomes[drafts.indexOf(draft)] = 'twin_committed';
    const messages = fresh.filter((draft) => !lost.has(draft)).flatMap((draft) => draft.messages);
    await storeMessages(parts, tx, messages);
    return { outcomes, due: messages.some((message) => message.scheduled_at === null) };
  });
  if (due) parts.jobs.wake('delivery.attempt');
  return outcomes;
}

interface Draft {
  readonly submission: Admitted;
  readonly results: SendResult[];
  readonly messages: NewMessage[];
}

/** Reads and locks what the judgement needs. The statements do not depend on each other and travel together. */
async function loadFacts(tx: Tx, submissions: readonly Admitted[]) {
  const parsed = submissions.flatMap(({ sender, messages }) =>
    messages.flatMap((message) => (message.ok ? [{ sender, input: message.value }] : [])),
  );
  const limited = new Set(
    submissions.filter(({ sender }) => sender.monthly_limit !== null).map(({ sender }) => sender.workspace_id),
  );
  const [now, domains, suppressions, usage, earlier] = await Promise.all([
    transactionTime(tx),
    loadDomains(
      tx,
      parsed.map(({ sender, input }) => ({ workspace_id: sender.workspace_id, name: input.from.domain })),
    ),
    loadSuppressions(
      tx,
      parsed.flatMap(({ sender, input }) =>
        emailsOf(input).map((email) => ({ workspace_id: sender.workspace_id, email })),
      ),
    ),
    limited.size > 0 ? lockUsage(tx, [...limited].sort()) : new Map<string, number>(),
    answeredBefore(tx, submissions),
  ]);
  const facts: AcceptFacts & { spend(workspace_id: string, count: number): void } = {
    now,
    resets_at: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)),
    domain: (workspace_id, name) => domains.get(`${workspace_id} ${name}`),
    suppressed: (workspace_id, email) => suppressions.has(`${workspace_id} ${email}`),
    used: (workspace_id) => usage.get(workspace_id) ?? 0,
    spend: (workspace_id, count) => usage.set(workspace_id, (usage.get(workspace_id) ?? 0) + count),
  };
  return { facts, earlier };
}

function replay(submission: Admitted, before: { readonly fingerprint: Buffer; readonly answer: string }): Outcome {
  if (submission.idempotency?.fingerprint.equals(before.fingerprint))
    return { kind: 'replayed', answer: before.answer };
  return {
    kind: 'refused',
    error: new AppError(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another body; use a new key for a new message.',
    ),
  };
}

/** Insert first: whoever finds its key taken by a twin's commit stores nothing and is judged again. */
async function claimKeys(tx: Tx, drafts: readonly Draft[]): Promise<ReadonlySet<Draft>> {
  const keyed = drafts.filter((draft) => draft.submission.idempotency !== null);
  if (keyed.length === 0) return new Set();
  const won = await claimIdempotencyKeys(
    tx,
    keyed.flatMap(({ submission: { sender, idempotency }, results }) =>
      idempotency === null
        ? []
        : [{ workspace_id: sender.workspace_id, ...idempotency, answer: idempotency.remember(results) }],
    ),
  );
  return new Set(
    keyed.filter(
      ({ submission: { sender, idempotency } }) =>
        !won.has(`${sender.workspace_id} ${idempotency?.operation} ${idempotency?.key}`),
    ),
  );
}

async function storeMessages(parts: AcceptParts, tx: Tx, messages: readonly NewMessage[]): Promise<void> {
  if (messages.length === 0) return;
  await Promise.all([
    insertMessages(tx, messages),
    addUsage(tx, messages),
    parts.jobs.send(
      tx,
      'delivery.attempt',
      messages.flatMap((message) =>
        message.recipients.flatMap((recipient) =>
          recipient.job_id === null
            ? []
            : [
                {
                  id: recipient.job_id,
                  data: { workspace_id: message.workspace_id, message_id: message.id, recipient_id: recipient.id },
                  ...(message.scheduled_at && { start_after: message.scheduled_at }),
                },
              ],
        ),
      ),
    ),
  ]);
}

function newMessage(parts: AcceptParts, submission: Admitted, input: SendInput, judged: Judged, now: Date): NewMessage {
  const now_ms = parts.clock.now();
  const state = judged.scheduled_at ? 'scheduled' : 'queued';
  const recipients = judged.addressees.map(
    (addressee): NewRecipient => ({
      ...addressee,
      id: newId('recipient', now_ms),
      state: addressee.suppressed ? 'suppressed' : state,
      job_id: addressee.suppressed ? null : randomUUID(),
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
    attachments: JSON.stringify(input.attachments),
    api_key_id: submission.sender.key_id,
    request_id: submission.request_id,
    resend_of: submission.resend_of,
    created_at: now,
    scheduled_at: judged.scheduled_at,
    counted: judged.counted,
    recipients,
  };
}

/** What makes two requests with one idempotency key the same: the body as it was parsed, before any default. */
export function fingerprintOf(raw: unknown): Buffer {
  return createHash('sha256')
    .update(JSON.stringify(raw) ?? '')
    .digest();
}
