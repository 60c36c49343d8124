import { fitsRecord, type Sql } from '@postrider/db';
import { isoTime } from '../clock.ts';
import { AppError } from '../errors.ts';
import { scopeRefusal } from '../scope-refusal.ts';
import { type RateWindow, windowOf } from '../usage/index.ts';
import { draftMessage } from './accept.ts';
import type { AcceptParts, SendResult, Submission } from './accept-line.ts';
import { credentialName } from './admit.ts';
import { storeAtOnce } from './at-once-store.ts';
import { type AcceptFacts, judge } from './judge.ts';
import type { RememberedFacts, RememberedSender } from './remembered-facts.ts';
import type { NewMessage } from './store.ts';

// Larger ones are rare, and a batch that is sent twice because it failed should be small.
const MOST_BODY_BYTES = 192 * 1024;
// The statement decides about time and volume; what is drafted is never scheduled and never at a limit.
const UNKNOWN_TIME = new Date(0);

/** A submission that passes by what is remembered, in the form in which it would be stored. */
export interface Draft {
  readonly sender: RememberedSender;
  readonly messages: readonly NewMessage[];
}

export interface AcceptedAtOnce {
  readonly results: readonly SendResult[];
  readonly window: RateWindow;
}

/**
 * Drafts a submission by what this process remembers, or returns null where that does not suffice. Whatever
 * would be refused or replayed goes the careful way: only the tables may say no.
 */
export function draftAtOnce(
  parts: Pick<AcceptParts, 'clock' | 'config'>,
  remembered: RememberedFacts,
  submission: Submission,
): Draft | null {
  const { actor, messages, idempotency, scope, resend } = submission;
  if (actor.kind !== 'credential' || idempotency !== null || resend !== null) return null;
  const sender = remembered.sender(credentialName(actor));
  if (!sender || scopeRefusal({ kind: 'key', scopes: sender.key.scopes }, scope)) return null;
  const facts: AcceptFacts = {
    now: UNKNOWN_TIME,
    resets_at: UNKNOWN_TIME,
    domain: remembered.domain,
    suppressed: remembered.suppressed,
    used: () => 0,
  };
  const drafts: NewMessage[] = [];
  for (const parsed of messages) {
    if (!parsed.ok) return null;
    const input = parsed.value;
    if (input.scheduled_at) return null;
    const judged = judge(input, sender.key, facts, parts.config);
    if (judged instanceof AppError || judged.addressees.some((addressee) => addressee.suppressed)) return null;
    const draft = draftMessage(parts, { ...submission, sender: sender.key }, input, judged, UNKNOWN_TIME);
    if (draft.body_bytes > MOST_BODY_BYTES || !travelsAsRecord(draft)) return null;
    drafts.push(draft);
  }
  return { sender, messages: drafts };
}

/** Every other field is checked for control characters where it is parsed, or escaped as JSON. */
function travelsAsRecord({ subject, html, text }: NewMessage): boolean {
  return fitsRecord(subject) && fitsRecord(html ?? '') && fitsRecord(text ?? '');
}

/** Stores drafts in one round trip, or throws and stores nothing. The answers stand in the order given. */
export async function acceptAtOnce(
  parts: AcceptParts,
  lane: Sql,
  epoch: number,
  drafts: readonly Draft[],
): Promise<AcceptedAtOnce[]> {
  const wanted = new Map<string, { wanted: number; allowance: number }>();
  let good_until: Date | null = null;
  const places = drafts.map(({ sender: { key, allowance, expires_at } }) => {
    if (expires_at && (good_until === null || expires_at < good_until)) good_until = expires_at;
    const window = wanted.get(key.key_id) ?? { wanted: 0, allowance };
    window.wanted += 1;
    wanted.set(key.key_id, window);
    return window.wanted;
  });
  const stored = await storeAtOnce(lane, parts.jobs, {
    epoch,
    good_until,
    windows: [...wanted]
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([key_id, window]) => ({ key_id, ...window })),
    messages: drafts.flatMap((draft) => draft.messages),
  });
  parts.jobs.wake('delivery.attempt');
  const created_at = isoTime(stored.now);
  return drafts.map(({ sender: { key, allowance }, messages }, index) => {
    parts.key_uses.note(key.key_id);
    const before = (stored.used.get(key.key_id) ?? 0) - (wanted.get(key.key_id)?.wanted ?? 0);
    const { reset_unix, seconds_left } = stored;
    return {
      results: messages.map(({ id }) => ({ id, status: 'queued', created_at })),
      window: windowOf({ limit: allowance, place: before + (places[index] ?? 0), reset_unix, seconds_left }),
    };
  });
}
