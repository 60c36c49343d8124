import type { Stored } from './database.ts';
import type { Ledgers, Seen } from './ledgers.ts';

/** One thing that must hold, with what was found. */
export interface Check {
  readonly name: string;
  readonly found: number;
  readonly at_most: number;
  /** A few of what was found, to look into. */
  readonly examples: readonly string[];
}

export interface Figures {
  readonly checks: readonly Check[];
  readonly notes: readonly string[];
}

export interface ReconcileOptions {
  readonly calm_until: number;
  readonly duplicates_after_kills: number;
}

const EXAMPLES = 5;
const key = (message_id: string, recipient: string) => `${message_id} ${recipient.toLowerCase()}`;

/** Holds the ledgers of clients, mail servers, endpoints and processes against the database. */
export function reconcile(ledgers: Ledgers, stored: Stored, options: ReconcileOptions): Figures {
  const taken = takenCopies(ledgers);
  const notes: string[] = [];
  const checks = [
    ...mailChecks(ledgers, stored, taken),
    ...duplicateChecks(ledgers, stored, taken, options, notes),
    ...clientChecks(ledgers, stored),
    ...eventChecks(ledgers, stored),
    check(
      'processes that ended unplanned',
      ledgers.lives.filter(({ end }) => end === 'unplanned').map(({ slot, pid }) => `${slot} ${pid}`),
    ),
  ];
  return { checks, notes: [...notes, ...latencies(ledgers, stored, taken)] };
}

function check(name: string, found: readonly string[], at_most = 0): Check {
  return { name, found: found.length, at_most, examples: found.slice(0, EXAMPLES) };
}

/** Copies that a server took, by message and recipient, in the order of their arrival. */
function takenCopies({ seen }: Ledgers): Map<string, Seen[]> {
  const copies = new Map<string, Seen[]>();
  for (const entry of seen) {
    if (entry.outcome !== 'accepted' && entry.outcome !== 'ack_lost') continue;
    const id = key(entry.message_id.split('@')[0] ?? '', entry.recipient);
    copies.set(id, [...(copies.get(id) ?? []), entry]);
  }
  return copies;
}

function mailChecks(ledgers: Ledgers, stored: Stored, taken: ReadonlyMap<string, readonly Seen[]>): Check[] {
  const refused = new Set(
    ledgers.seen
      .filter(({ outcome }) => outcome === 'rejected')
      .map((entry) => key(entry.message_id.split('@')[0] ?? '', entry.recipient)),
  );
  const justified = (state: string, id: string) => state === 'canceled' || state === 'suppressed' || refused.has(id);
  const known = new Set(stored.recipients.map(({ message_id, email }) => key(message_id, email)));
  const stateOf = new Map(stored.recipients.map(({ message_id, email, state }) => [key(message_id, email), state]));
  const lost: string[] = [];
  const early: string[] = [];
  for (const sent of ledgers.sent) {
    for (const id of sent.ids) {
      for (const recipient of sent.recipients) {
        const copy = key(id, recipient);
        const arrived = taken.get(copy);
        if (!arrived && !justified(stateOf.get(copy) ?? 'missing', copy))
          lost.push(`${copy} ${stateOf.get(copy) ?? 'missing'}`);
        if (sent.due_at !== null && arrived?.some(({ at }) => at < (sent.due_at ?? 0))) early.push(copy);
      }
    }
  }
  return [
    check('accepted, and no server has it (lost)', lost),
    check(
      'recorded as delivered, and no server has it',
      stored.recipients
        .filter(({ message_id, email, state }) => state === 'delivered' && !taken.has(key(message_id, email)))
        .map(({ message_id, email }) => key(message_id, email)),
    ),
    check(
      'at a server without a record',
      [...taken.keys()].filter((id) => !known.has(id)),
    ),
    check('sent before it was due', early),
    check(
      'open after the drain',
      stored.recipients
        .filter(({ state }) => ['scheduled', 'queued', 'deferred', 'sending'].includes(state))
        .map(({ message_id, email, state }) => `${key(message_id, email)} ${state}`),
    ),
  ];
}

function duplicateChecks(
  ledgers: Ledgers,
  stored: Stored,
  taken: ReadonlyMap<string, readonly Seen[]>,
  options: ReconcileOptions,
  notes: string[],
): Check[] {
  const calm: string[] = [];
  const after_fault: string[] = [];
  const unexplained: string[] = [];
  const changed: string[] = [];
  let lost_acks = 0;
  for (const [id, copies] of taken) {
    if (new Set(copies.map(({ body_hash }) => body_hash)).size > 1) changed.push(id);
    const extra = copies.length - 1;
    if (extra < 1) continue;
    const acks = copies.slice(0, -1).filter(({ outcome }) => outcome === 'ack_lost').length;
    lost_acks += Math.min(acks, extra);
    for (let copy = 0; copy < extra - Math.min(acks, extra); copy++) {
      const [first, second] = [copies[copy]?.at ?? 0, copies[copy + 1]?.at ?? 0];
      if (second < options.calm_until) calm.push(id);
      else if (stored.unknown.has(id) || faultBetween(ledgers, first, second)) after_fault.push(id);
      else unexplained.push(`${id} ${new Date(first).toISOString()} ${new Date(second).toISOString()}`);
    }
  }
  notes.push(`copies sent again after an answer was lost: ${lost_acks}`);
  return [
    check('copies of one mail that differ', changed),
    check('sent twice while nothing failed', calm),
    check('sent twice without a fault between the copies', unexplained),
    check('sent twice after a kill or a loss of the database', after_fault, options.duplicates_after_kills),
  ];
}

const NEAR_MS = 2000;

/** Whether a process or the database failed between two copies, or just before the first was taken. */
function faultBetween({ faults, lives }: Ledgers, first: number, second: number): boolean {
  const near = (at: number) => at >= first - NEAR_MS && at <= second;
  return (
    faults.some(({ at, ended_at }) => near(at) || near(ended_at) || (at < first && ended_at > first)) ||
    lives.some(({ ended_at }) => ended_at !== null && near(ended_at))
  );
}

function clientChecks({ sent }: Ledgers, stored: Stored): Check[] {
  return [
    check(
      'keys that were answered with two ids',
      sent.filter(({ ids }) => ids.size > 1).map(({ key: name }) => name),
    ),
    check(
      'requests that were never answered',
      sent.filter(({ ids, refusal }) => ids.size === 0 && refusal === null).map(({ key: name }) => name),
    ),
    check(
      'requests that were refused',
      sent.filter(({ refusal }) => refusal !== null).map(({ key: name, refusal }) => `${name} ${refusal}`),
    ),
    check(
      'answered ids without a message',
      sent.flatMap(({ ids }) => [...ids]).filter((id) => !stored.messages.has(id)),
    ),
    check(
      'canceled, and sent all the same',
      sent
        .filter(({ canceled }) => canceled === 'yes')
        .flatMap(({ ids }) => [...ids])
        .filter((id) => stored.messages.get(id)?.status !== 'canceled'),
    ),
  ];
}

function eventChecks({ posted, sent }: Ledgers, stored: Stored): Check[] {
  const good = new Set(
    posted.filter(({ answered }) => answered === 200).map(({ email_id, sequence }) => `${email_id} ${sequence}`),
  );
  const known = new Set(stored.events.map(({ message_id, sequence }) => `${message_id} ${sequence}`));
  const ours = new Set(sent.flatMap(({ ids }) => [...ids]));
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
      'events that the endpoint never got',
      [...known].filter((event) => ours.has(event.split(' ')[0] ?? '') && !good.has(event)),
    ),
    check(
      'posts of events that do not exist',
      [...good].filter((event) => !known.has(event)),
    ),
    check('events with two webhook ids', twoIds),
    check(
      'posts with a wrong signature',
      posted.filter(({ signed }) => !signed).map(({ webhook_id }) => webhook_id),
    ),
    check(
      'messages with a gap in the sequence of events',
      gaps.map(([id]) => id),
    ),
    check(
      'webhook deliveries open after the drain',
      Array.from({ length: stored.open_webhooks }, () => 'pending'),
    ),
  ];
}

/** Accept to the first copy taken, for mail that was due at once and met no scripted delay. */
function latencies(ledgers: Ledgers, stored: Stored, taken: ReadonlyMap<string, readonly Seen[]>): string[] {
  const scripted = new Set(
    ledgers.seen
      .filter(({ outcome }) => outcome !== 'accepted')
      .map((entry) => key(entry.message_id.split('@')[0] ?? '', entry.recipient)),
  );
  const times: number[] = [];
  for (const sent of ledgers.sent) {
    if (sent.due_at !== null) continue;
    for (const id of sent.ids) {
      const created = stored.messages.get(id)?.created_at;
      for (const recipient of sent.recipients) {
        const first = taken.get(key(id, recipient))?.[0]?.at;
        if (created === undefined || first === undefined || scripted.has(key(id, recipient))) continue;
        times.push(first - created);
      }
    }
  }
  times.sort((a, b) => a - b);
  const at = (share: number) =>
    ((times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0) / 1000).toFixed(2);
  return [
    `accept to delivered, s: p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}, max ${at(1)} (${times.length} copies)`,
  ];
}
