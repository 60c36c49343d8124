import { type Check, check } from './check.ts';
import type { StoredRecipient, StoredState } from './database.ts';
import type { ArrivalEntry, Fault, Ledgers } from './ledgers.ts';
import type { Plan } from './plans.ts';
import { recoveryChecks } from './recovery.ts';
import { keyOf, latencies } from './speed.ts';

export interface Figures {
  readonly checks: readonly Check[];
  readonly notes: readonly string[];
}

export interface ReconcileOptions {
  readonly plan: Plan;
  readonly calm_until: number;
  /** Domains whose servers take minutes per message, so that their messages may still be open when the run ends. */
  readonly slow: readonly string[];
  /** Domains whose messages wait for one another by design. */
  readonly narrow: readonly string[];
  /** Messages that a reconciler found without a job, according to the logs. */
  readonly rescued: number;
}

/**
 * The number of messages that a worker may have sent but not recorded, if it exposes no limit of its own: the limit in
 * docs/limits.md.
 */
const MAX_UNRECORDED = 128;
/**
 * The average number of duplicates that a kill may cause in steady flow. On a slow machine more messages may be in
 * doubt, up to the limit.
 */
const DUPLICATES_PER_KILL = 3;

/** Checks the ledgers of clients, mail servers, endpoints and processes against the database. */
export function reconcile(ledgers: Ledgers, stored: StoredState, options: ReconcileOptions): Figures {
  const copies = takenCopies(ledgers);
  const { plan, slow, narrow, rescued } = options;
  const duplicates = duplicateChecks(ledgers, copies, options);
  const times = latencies(ledgers, stored, copies, {
    speed: plan.backlog === null ? plan.speed : null,
    slow: [...slow, ...narrow],
  });
  const checks = [
    ...mailChecks(ledgers, stored, copies, slow),
    ...duplicates.checks,
    ...clientChecks(ledgers, stored, copies, options.calm_until),
    ...recordChecks(stored),
    ...eventChecks(ledgers, stored, slow),
    { name: 'emails rescued by a reconciler', count: rescued, at_most: 0, examples: [] },
    ...recoveryChecks(ledgers, plan),
    ...times.checks,
  ];
  const max_mb = Math.max(...ledgers.lives.map((life) => life.max_memory_mb));
  return { checks, notes: [...duplicates.notes, ...times.notes, `peak memory of a process: ${max_mb} MB`] };
}

/** Groups the copies that a server accepted by message and recipient, in order of arrival. */
function takenCopies({ seen: arrivals }: Ledgers): Map<string, ArrivalEntry[]> {
  const copies = new Map<string, ArrivalEntry[]>();
  for (const entry of arrivals) {
    if (entry.outcome !== 'accepted' && entry.outcome !== 'ack_lost') continue;
    const id = keyOf(entry.message_id.split('@')[0] ?? '', entry.recipient);
    const earlier = copies.get(id);
    if (earlier) earlier.push(entry);
    else copies.set(id, [entry]);
  }
  return copies;
}

const open = ['scheduled', 'queued', 'deferred', 'sending'];

function isTo(domains: readonly string[], recipient: string): boolean {
  return domains.includes(recipient.split('@')[1] ?? '');
}

function mailChecks(
  ledgers: Ledgers,
  stored: StoredState,
  copies: ReadonlyMap<string, readonly ArrivalEntry[]>,
  slow: readonly string[],
): Check[] {
  const rejected = new Set(
    ledgers.seen
      .filter(({ outcome }) => outcome === 'rejected')
      .map((entry) => keyOf(entry.message_id.split('@')[0] ?? '', entry.recipient)),
  );
  const stateOf = new Map(stored.recipients.map(({ message_id, email, state }) => [keyOf(message_id, email), state]));
  const justified = (state: string, id: string, recipient: string) =>
    state === 'canceled' ||
    state === 'suppressed' ||
    rejected.has(id) ||
    (isTo(slow, recipient) && open.includes(state));
  const lost: string[] = [];
  const early_copies: string[] = [];
  const expected = new Set<string>();
  for (const sent of ledgers.sent) {
    for (const recipient of sent.recipients) expected.add(recipient);
    for (const id of sent.ids) {
      for (const recipient of sent.recipients) {
        const copy = keyOf(id, recipient);
        const arrived = copies.get(copy);
        const state = stateOf.get(copy) ?? 'missing';
        if (!arrived && !justified(state, copy, recipient)) lost.push(`${copy} ${state}`);
        if (sent.due_at !== null && arrived?.some(({ at }) => at < (sent.due_at ?? 0))) early_copies.push(copy);
      }
    }
  }
  return [
    check('accepted but not on any server (lost)', lost),
    check(
      'recorded as delivered but not on any server',
      stored.recipients
        .filter(({ message_id, email, state }) => state === 'delivered' && !copies.has(keyOf(message_id, email)))
        .map(({ message_id, email }) => keyOf(message_id, email)),
    ),
    check(
      'on a server but not recorded',
      [...copies.keys()].filter((id) => !stateOf.has(id)),
    ),
    check(
      'on a server but not requested by a client',
      [...copies.keys()].filter((id) => !expected.has(id.split(' ')[1] ?? '')),
    ),
    check('sent before its scheduled time', early_copies),
    check(
      'open after the drain',
      stored.recipients
        .filter(({ state, email }) => open.includes(state) && !isTo(slow, email))
        .map(({ message_id, email, state }) => `${keyOf(message_id, email)} ${state}`),
    ),
  ];
}

interface Extra {
  readonly copy: string;
  readonly fault: Fault;
}

function duplicateChecks(
  ledgers: Ledgers,
  by_copy: ReadonlyMap<string, readonly ArrivalEntry[]>,
  { plan, calm_until, slow }: ReconcileOptions,
): Figures {
  const calm: string[] = [];
  const unexplained: string[] = [];
  const changed: string[] = [];
  const explained: Extra[] = [];
  let lost_acks = 0;
  let to_slow = 0;
  for (const [id, copies] of by_copy) {
    if (new Set(copies.map(({ body_hash }) => body_hash)).size > 1) changed.push(id);
    for (const [place, copy] of copies.slice(0, -1).entries()) {
      const next = copies[place + 1] ?? copy;
      const fault = faultBetween(ledgers, copy.at, next.at);
      if (copy.outcome === 'ack_lost') lost_acks += 1;
      else if (isTo(slow, copy.recipient)) to_slow += 1;
      else if (next.at < calm_until) calm.push(id);
      else if (fault) explained.push({ copy: id, fault });
      else unexplained.push(`${id} ${new Date(copy.at).toISOString()} ${new Date(next.at).toISOString()}`);
    }
  }
  const after = (kinds: readonly string[]) => explained.filter(({ fault }) => kinds.includes(fault.of));
  const kills = ledgers.kills.map((kill) => ({
    ...kill,
    copies: explained.filter(({ fault }) => fault.of === 'worker' && Math.abs(fault.at - kill.at) < 50).length,
  }));
  // The worker may record results between the sample and the kill, and then its limit at most doubles.
  const limitOf = (bound: number | null) =>
    bound === null ? MAX_UNRECORDED : Math.max(bound, Math.min(MAX_UNRECORDED, 2 * bound));
  const excessive = kills.filter(({ copies, bound }) => copies > limitOf(bound));
  const after_kills = after(['worker', 'api', 'database']);
  const calm_flow = plan.backlog === null;
  const max = plan.worker_kills * (plan.speed ? DUPLICATES_PER_KILL : MAX_UNRECORDED);
  return {
    checks: [
      check('copies of the same email that differ', changed),
      check('sent twice while nothing was failing', calm),
      check('sent twice without a fault in between', unexplained),
      check(
        'kills with more duplicates than the worker could have unrecorded',
        excessive.map(({ slot, copies, bound }) => `${slot} ${copies} of ${limitOf(bound)}`),
      ),
      ...(calm_flow ? [check('sent twice after kills and database outages', after_kills.map(describe), max)] : []),
    ],
    notes: [
      `duplicates after a lost response ${lost_acks}, worker kills ${after(['worker']).length} (${kills
        .map(({ copies }) => copies)
        .join(' ')}), API kills ${after(['api']).length}, database outages ${after(['database']).length}, ` +
        `half-closed mail server connections ${after(['mail']).length}, frozen workers ${after(['pause']).length}, SIGTERM ${after(['stop']).length}, to slow servers ${to_slow}`,
    ],
  };
}

function describe({ copy, fault }: Extra): string {
  return `${copy} ${fault.what}`;
}

const NEAR_MS = 2000;

/** Returns the first fault between the arrivals of two copies, or shortly before the first arrival. */
function faultBetween({ faults }: Ledgers, first: number, second: number): Fault | undefined {
  return faults
    .filter(({ at, ended_at }) => ended_at >= first - NEAR_MS && at <= second)
    .sort((left, right) => left.at - right.at)[0];
}

/** Checks that the rows stored for each recipient are consistent. */
function recordChecks({ recipients }: StoredState): Check[] {
  const closing: Readonly<Record<string, string>> = {
    delivered: 'email.delivered',
    bounced: 'email.bounced',
    failed: 'email.failed',
  };
  const describeRow = ({ message_id, email, state }: StoredRecipient) => `${keyOf(message_id, email)} ${state}`;
  const closed = recipients.filter(({ state }) => !open.includes(state));
  return [
    check(
      'recipients with inconsistent attempts',
      closed
        .filter((one) => new Set([one.attempt_count, one.attempts, one.numbers, one.highest]).size > 1)
        .map((one) => `${describeRow(one)} ${one.attempt_count} ${one.attempts} ${one.numbers} ${one.highest}`),
    ),
    check(
      'recipients without exactly one final event',
      closed
        .filter(({ state, events }) => {
          const type = closing[state];
          return type !== undefined && events.filter((event) => event === type).length !== 1;
        })
        .map(describeRow),
    ),
  ];
}

export const FAILED_IN_CALM = 'requests that failed without a fault';

function clientChecks(
  { sent, failures }: Ledgers,
  stored: StoredState,
  copies: ReadonlyMap<string, unknown>,
  calm_until: number,
): Check[] {
  const canceled = new Set(sent.filter((one) => one.canceled === 'yes').flatMap(({ ids }) => [...ids]));
  return [
    check(
      FAILED_IN_CALM,
      failures.filter((at) => at < calm_until).map((at) => new Date(at).toISOString()),
    ),
    check(
      'keys with two message IDs',
      sent.filter(({ ids }) => ids.size > 1).map(({ key: name }) => name),
    ),
    check(
      'requests without a response',
      sent
        .filter(({ keyed, ids, refusal }) => keyed && ids.size === 0 && refusal === null)
        .map(({ key: name }) => name),
    ),
    check(
      'rejected requests',
      sent.filter(({ refusal }) => refusal !== null).map(({ key: name, refusal }) => `${name} ${refusal}`),
    ),
    check(
      'returned IDs without a message',
      sent.flatMap(({ ids }) => [...ids]).filter((id) => !stored.messages.has(id)),
    ),
    check('canceled but still sent', [
      ...[...canceled].filter((id) => stored.messages.get(id)?.status !== 'canceled'),
      ...[...copies.keys()].filter((copy) => canceled.has(copy.split(' ')[0] ?? '')),
    ]),
  ];
}

function eventChecks({ posted, sent }: Ledgers, stored: StoredState, slow: readonly string[]): Check[] {
  const good = new Set(
    posted.filter(({ answered: status }) => status === 200).map(({ email_id, sequence }) => `${email_id} ${sequence}`),
  );
  const known = new Set(stored.events.map(({ message_id, sequence }) => `${message_id} ${sequence}`));
  // The state of messages to slow servers may change while the database is read.
  const settled = sent.filter(({ recipients }) => !recipients.some((recipient) => isTo(slow, recipient)));
  const own_ids = new Set(settled.flatMap(({ ids }) => [...ids]));
  const bySequence = new Map<string, string>();
  const twoIds: string[] = [];
  for (const { webhook_id, email_id, sequence } of posted) {
    const event = `${email_id} ${sequence}`;
    if ((bySequence.get(event) ?? webhook_id) !== webhook_id) twoIds.push(event);
    bySequence.set(event, webhook_id);
  }
  const sequences = new Map<string, number[]>();
  for (const { message_id, sequence } of stored.events) {
    sequences.set(message_id, [...(sequences.get(message_id) ?? []), sequence]);
  }
  const gaps = [...sequences].filter(([, numbers]) => {
    const sorted = numbers.toSorted((a, b) => a - b);
    return sorted.some((number, place) => number !== (sorted[0] ?? 0) + place);
  });
  return [
    check(
      'events that the endpoint never received',
      [...known].filter((event) => own_ids.has(event.split(' ')[0] ?? '') && !good.has(event)),
    ),
    check(
      'webhook requests for events that do not exist',
      [...good].filter((event) => !known.has(event)),
    ),
    check('events with two webhook IDs', twoIds),
    check(
      'webhook requests with an invalid signature',
      posted.filter(({ signed }) => !signed).map(({ webhook_id }) => webhook_id),
    ),
    check(
      'messages with a gap in their event sequence',
      gaps.map(([id]) => id),
    ),
    check(
      'open webhook deliveries after the drain',
      Array.from({ length: stored.open_webhooks }, () => 'pending'),
    ),
  ];
}
