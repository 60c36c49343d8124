import { fitsRecord, type Sql } from '@postrider/db';
import { isoTime } from '../fields/clock.ts';
import { AppError } from '../operation/errors.ts';
import type { RateWindow } from '../operation/ports.ts';
import { scopeRefusal } from '../operation/scope-refusal.ts';
import { windowOf } from '../usage/index.ts';
import { draftMessage } from './accept.ts';
import type { AdmissionCache, CachedSender } from './admission-cache.ts';
import { credentialName } from './admit.ts';
import { type FastWindow, storeFast } from './fast-path-store.ts';
import { type AcceptFacts, judge } from './judge.ts';
import type { NewMessage } from './new-message.ts';
import type { AcceptParts, SendResult, Submission } from './submission.ts';

// Larger bodies are rare, and a batch that has to be retried on the slow path should be small.
const MAX_BODY_BYTES = 192 * 1024;
// The statement checks time and volume; a draft is never scheduled and never at a limit.
const UNKNOWN_TIME = new Date(0);

/** A submission that passes according to the admission cache, as it would be stored. */
export interface Draft {
  readonly sender: CachedSender;
  readonly messages: readonly NewMessage[];
}

export interface AcceptedFast {
  readonly results: readonly SendResult[];
  readonly window: RateWindow;
}

/**
 * Drafts a submission from the admission cache, or returns null if the cache is not enough. Rejections and replays take
 * the slow path, because only the tables can decide them.
 */
export function draftFast(
  parts: Pick<AcceptParts, 'clock' | 'config'>,
  cache: AdmissionCache,
  submission: Submission,
): Draft | null {
  const { actor, messages, idempotency, scope, resend } = submission;
  if (actor.kind !== 'credential' || idempotency !== null || resend !== null) return null;
  const sender = cache.sender(credentialName(actor));
  if (!sender || scopeRefusal({ kind: 'key', scopes: sender.key.scopes }, scope)) return null;
  const facts: AcceptFacts = {
    now: UNKNOWN_TIME,
    resets_at: UNKNOWN_TIME,
    domain: cache.domain,
    suppressed: cache.suppressed,
    used: () => 0,
  };
  const drafts: NewMessage[] = [];
  for (const parsed of messages) {
    if (!parsed.ok) return null;
    const input = parsed.value;
    if (input.scheduled_at) return null;
    const decision = judge(input, sender.key, facts, parts.config);
    if (decision instanceof AppError || decision.addressees.some((addressee) => addressee.suppressed)) return null;
    const draft = draftMessage(parts, { ...submission, sender: sender.key }, input, decision, UNKNOWN_TIME);
    if (draft.body_bytes > MAX_BODY_BYTES || !travelsAsRecord(draft)) return null;
    drafts.push(draft);
  }
  return { sender, messages: drafts };
}

/**
 * Returns whether the message fits into a record. Only these fields are checked: all others are parsed without control
 * characters or escaped as JSON.
 */
function travelsAsRecord({ subject, html, text }: NewMessage): boolean {
  return fitsRecord(subject) && fitsRecord(html ?? '') && fitsRecord(text ?? '');
}

/** Stores drafts in one round trip, or throws and stores nothing. Results are in the order of the drafts. */
export async function acceptFast(
  parts: AcceptParts,
  sql: Sql,
  epoch: number,
  drafts: readonly Draft[],
): Promise<AcceptedFast[]> {
  const windows = new Map<string, FastWindow & { wanted: number }>();
  const take = (rate_class: FastWindow['rate_class'], subject: string, allowance: number) => {
    const window = windows.get(subject) ?? { rate_class, subject, wanted: 0, allowance };
    window.wanted += 1;
    windows.set(subject, window);
    return window.wanted;
  };
  let good_until: Date | null = null;
  const positions = drafts.map(({ sender: { key, allowance, workspace_rate, expires_at } }) => {
    if (expires_at && (good_until === null || expires_at < good_until)) good_until = expires_at;
    if (workspace_rate !== null) take('workspace', key.workspace_id, workspace_rate);
    return take('send', key.key_id, allowance);
  });
  // A separate notification takes a tenth of the processor time of a lone request.
  const wakes = drafts.length === 1 && parts.jobs.claimWake();
  const stored = await storeFast(sql, parts.jobs, {
    epoch,
    good_until,
    windows: [...windows.values()].sort((left, right) => (lockOrder(left) < lockOrder(right) ? -1 : 1)),
    messages: drafts.flatMap((draft) => draft.messages),
    wakes,
  });
  if (wakes) parts.jobs.wakeLocal('delivery.attempt');
  else parts.jobs.wakeAll('delivery.attempt');
  const created_at = isoTime(stored.now);
  return drafts.map(({ sender: { key, allowance }, messages }, index) => {
    parts.key_uses.note(key.key_id);
    const before = (stored.used.get(key.key_id) ?? 0) - (windows.get(key.key_id)?.wanted ?? 0);
    const { reset_unix, seconds_left } = stored;
    return {
      results: messages.map(({ id }) => ({ id, status: 'queued', created_at })),
      window: windowOf({ limit: allowance, place: before + (positions[index] ?? 0), reset_unix, seconds_left }),
    };
  });
}

/** Returns a sort key that puts keys before workspaces, as when requests are counted one by one. */
function lockOrder({ rate_class, subject }: FastWindow): string {
  return `${rate_class} ${subject}`;
}
