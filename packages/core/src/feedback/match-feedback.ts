import { cleanRemoteText } from '@postrider/net';
import { type ReturnPath, recordReturned } from '../delivery/index.ts';
import { idPrefixes, isId } from '../fields/ids.ts';
import type { Services } from '../operation/context.ts';
import {
  confirmDelivery,
  type DueEvent,
  passageOf,
  recipientAt,
  recipientOfReceipt,
  settleEvent,
  takeDueEvents,
} from './feedback-store.ts';
import type { FeedbackFacts, FeedbackKind } from './provider.ts';
import { readReference } from './reference.ts';

const PER_TRANSPORT = 100;
const LEASE_SECONDS = 60;
const MIN_RETRY_SECONDS = 20;
/** How long an event may come before our own record of its attempt. */
const MATCHED_WITHIN_MS = 15 * 60_000;
const STATUS = /^[245]\.\d{1,3}\.\d{1,3}$/;
/** Batches per call, so that a call ends. */
const MAX_BATCHES = 50;

type Match =
  | { readonly state: 'recorded' | 'ignored'; readonly detail: string | null; readonly message_id: string }
  /** The recipient may still be recorded. */
  | { readonly state: 'unmatched'; readonly detail: string; readonly message_id: null };

/** Matches the pending events that are due, of one transport or of all, each transport getting its share. */
export async function matchFeedback(services: Services, transport_id: string | null = null): Promise<void> {
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const events = await takeDueEvents(services.sql, PER_TRANSPORT, LEASE_SECONDS, transport_id);
    if (events.length === 0) return;
    for (const event of events) await matchEvent(services, event);
  }
}

async function matchEvent(services: Services, event: DueEvent): Promise<void> {
  // One event that cannot be recorded must not keep the others of its transport waiting.
  const match = await record(services, event).catch((error: unknown): Match => {
    services.log.error({ err: error, event_id: event.event_id }, 'failed to record feedback');
    return unmatched('It could not be recorded.');
  });
  const age_ms = services.clock.now() - event.received_at.getTime();
  const is_late = age_ms >= MATCHED_WITHIN_MS;
  const state = match.state === 'unmatched' && !is_late ? 'pending' : match.state;
  if (state !== 'pending') services.metrics.count('feedback_events_total', [event.kind, state]);
  // Most come seconds too early. What names no email of ours must not be looked up all the time.
  const again_in_ms = Math.min(age_ms / 2, MATCHED_WITHIN_MS - age_ms);
  const again_in_seconds = Math.max(MIN_RETRY_SECONDS, again_in_ms / 1000);
  await settleEvent(services.sql, event, { ...match, state }, again_in_seconds);
}

async function record(services: Services, event: DueEvent): Promise<Match> {
  const { transport_id, kind } = event;
  // The cast is safe because the reports of a provider are stored as JSON.
  const facts = JSON.parse(event.facts) as FeedbackFacts;
  const path = await pathOf(services, transport_id, facts);
  if (!path) return unmatched('It names no email of this transport, or not its recipient.');
  const passage = await passageOf(services.sql, path, transport_id);
  if (!passage) return unmatched('The email is not stored.');
  const { email } = passage;
  if (facts.recipient !== undefined && facts.recipient.toLowerCase() !== email.toLowerCase())
    return unmatched('The recipient is another one.');
  // The secret of one transport must not speak for the email of another.
  if (!passage.is_through) return unmatched('The email was not sent through this transport.');
  const { message_id } = path;
  if (kind === 'delivered') {
    const is_confirmed = await confirmDelivery(services.sql, message_id, passage.id, event.received_at);
    if (is_confirmed) return { state: 'recorded', detail: null, message_id };
    return { state: 'ignored', detail: `the recipient is ${passage.state}`, message_id };
  }
  const result = await recordReturned(services, path, returnedMail(kind, facts, email), facts);
  switch (result.kind) {
    case 'later':
      return unmatched('The email is being sent.');
    case 'ignored':
      return { state: 'ignored', detail: result.why, message_id };
    default:
      return { state: 'recorded', detail: null, message_id };
  }
}

const unmatched = (detail: string) => ({ state: 'unmatched', detail, message_id: null }) as const;

/** Returns the recipient that an event names: by our reference, the relay's own ID, or the Message-ID and the address. */
async function pathOf(
  services: Services,
  transport_id: string,
  { reference, relay_id, message_id, recipient }: FeedbackFacts,
): Promise<ReturnPath | null> {
  const path = reference === undefined ? null : readReference(services, transport_id, reference);
  if (path) return path;
  const receipt = relay_id === undefined ? null : await recipientOfReceipt(services.sql, transport_id, relay_id);
  if (receipt) return receipt;
  const id = message_id?.split('@')[0]?.toLowerCase() ?? '';
  if (!id.startsWith(idPrefixes.message) || !isId('message', id) || recipient === undefined) return null;
  return recipientAt(services.sql, id, recipient);
}

/** Puts an event in the form of a report by email, so that both are judged by the same rules. */
function returnedMail(kind: Exclude<FeedbackKind, 'delivered'>, facts: FeedbackFacts, email: string) {
  if (kind === 'complained') return { kind: 'complaint', feedback_type: 'abuse' } as const;
  const status = STATUS.test(facts.status ?? '') ? (facts.status ?? null) : null;
  const diagnostic = facts.diagnostic === undefined ? null : cleanRemoteText(facts.diagnostic);
  const action = kind === 'bounced' ? ('failed' as const) : ('delayed' as const);
  return {
    kind: 'report',
    recipients: [{ addresses: [email.toLowerCase()], action, status, diagnostic, sorted_as: facts.sorted_as ?? null }],
    text: diagnostic ?? '',
    subject: '',
    is_delay: false,
    from_system: true,
  } as const;
}
