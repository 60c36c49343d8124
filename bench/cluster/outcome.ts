import { setTimeout as pause } from 'node:timers/promises';
import { type Check, check, holds } from '../faults/check.ts';
import type { Database, StoredState } from '../faults/database.ts';
import type { Ledgers } from '../faults/ledgers.ts';

const DRAIN_MS = 120_000;

/** Waits until no message is open. */
export async function drain(database: Database): Promise<void> {
  const until = performance.now() + DRAIN_MS;
  while ((await database.openRecipients()) > 0) {
    if (performance.now() > until) return;
    await pause(250);
  }
}

/** Counts copies at the mail server by message ID. Each message has one recipient here. */
export function copiesOf({ seen: arrivals }: Ledgers): Map<string, number> {
  const copies = new Map<string, number>();
  for (const { message_id, outcome } of arrivals) {
    const id = message_id.split('@')[0] ?? '';
    if (outcome === 'accepted') copies.set(id, (copies.get(id) ?? 0) + 1);
  }
  return copies;
}

/** Returns the checks that must pass no matter which faults were injected. */
export function mailChecks(ledgers: Ledgers, stored: StoredState): Check[] {
  const copies = copiesOf(ledgers);
  const accepted = ledgers.sent.flatMap(({ ids }) => [...ids]);
  return [
    check('accepted but not stored (lost)', missing(accepted, stored.messages)),
    check('accepted but not on any server (lost)', missing(accepted, copies)),
    check('sent but not recorded', missing(copies.keys(), stored.messages)),
    check(
      'recorded as delivered but not on any server',
      stored.recipients
        .filter(({ state, message_id }) => state === 'delivered' && !copies.has(message_id))
        .map(({ message_id }) => message_id),
    ),
    check(
      'not delivered after the drain',
      stored.recipients.filter(({ state }) => state !== 'delivered').map((one) => `${one.message_id} ${one.state}`),
    ),
    check(
      'keys with two message IDs',
      ledgers.sent.filter(({ ids }) => ids.size > 1).map(({ key }) => key),
    ),
    check(
      'keys without a response',
      ledgers.sent.filter(({ keyed, ids }) => keyed && ids.size === 0).map(({ key }) => key),
    ),
    check('requests that created two messages', doubled(stored)),
  ];
}

function doubled({ recipients }: StoredState): string[] {
  const messages = Map.groupBy(recipients, ({ email }) => email);
  return [...messages].filter(([, list]) => list.length > 1).map(([email, list]) => `${email} ${list.length}`);
}

function missing(ids: Iterable<string>, from: { has(id: string): boolean }): string[] {
  return [...ids].filter((id) => !from.has(id));
}

/** Returns the longest time between two 202 responses, in milliseconds. */
export function longestGap({ accepted }: Ledgers): number {
  const times = accepted.toSorted((a, b) => a - b);
  return times.reduce((max, at, place) => Math.max(max, at - (times[place - 1] ?? at)), 0);
}

/** Prints a line per check. Returns true if all checks pass. */
export function printChecks(name: string, checks: readonly Check[]): boolean {
  for (const one of checks) {
    const limit = one.at_most > 0 ? ` (at most ${one.at_most})` : '';
    console.log(`  ${holds(one) ? 'ok ' : 'BAD'} ${String(one.count).padStart(6)}  ${one.name}${limit}`);
    if (!holds(one)) for (const example of one.examples) console.log(`              ${example}`);
  }
  const failed = checks.filter((one) => !holds(one)).length;
  console.log(failed === 0 ? `${name}: all ${checks.length} passed` : `${name}: ${failed} of ${checks.length} failed`);
  return failed === 0;
}
