import { atMost, type Check } from './check.ts';
import type { StoredState } from './database.ts';
import type { ArrivalEntry, Ledgers } from './ledgers.ts';
import type { Speed } from './plans.ts';

const AWAY_MS = 15_000;

export interface SpeedOptions {
  readonly speed: Speed | null;
  /** Domains of slow servers. */
  readonly slow: readonly string[];
}

/**
 * Measures the seconds from accept to the first accepted copy, for messages that were due immediately and met no
 * scripted delay.
 */
export function latencies(
  ledgers: Ledgers,
  stored: StoredState,
  copies: ReadonlyMap<string, readonly ArrivalEntry[]>,
  { speed, slow }: SpeedOptions,
): { readonly checks: readonly Check[]; readonly notes: readonly string[] } {
  const scripted = new Set(
    ledgers.seen
      .filter(({ outcome, late: is_late }) => outcome !== 'accepted' || is_late)
      .map(({ message_id, recipient }) => keyOf(message_id.split('@')[0] ?? '', recipient)),
  );
  const outages = ledgers.faults.filter(({ of: target }) => target === 'database');
  const all: number[] = [];
  const waits: number[] = [];
  for (const sent of ledgers.sent) {
    if (sent.due_at !== null) continue;
    for (const id of sent.ids) {
      const created = stored.messages.get(id)?.created_at;
      for (const recipient of sent.recipients) {
        const copy = keyOf(id, recipient);
        const first = copies.get(copy)?.[0]?.at;
        if (created === undefined || first === undefined || scripted.has(copy)) continue;
        if (slow.includes(recipient.split('@')[1] ?? '')) continue;
        if (ledgers.slow_times.some(({ from, to }) => created >= from && created <= to)) continue;
        const seconds = (first - created) / 1000;
        all.push(seconds);
        if (outages.every(({ at, ended_at }) => created < at - AWAY_MS || created > ended_at + AWAY_MS))
          waits.push(seconds);
      }
    }
  }
  const [of_all, of_away] = [quantiles(all), quantiles(waits)];
  const checks = speed
    ? [
        atMost('seconds from accepted to delivered, away from database faults, p95', of_away.p95, speed.away_p95),
        atMost('seconds from accepted to delivered, away from database faults, p99', of_away.p99, speed.away_p99),
        atMost('seconds from accepted to delivered, all email, p99', of_all.p99, speed.all_p99),
        atMost('seconds from accepted to delivered, all email, maximum', of_all.max, speed.all_max),
      ]
    : [];
  return {
    checks,
    notes: [
      `accepted to delivered, seconds, all email: ${format(of_all)}`,
      `accepted to delivered, seconds, more than 15 s from a database fault: ${format(of_away)}`,
    ],
  };
}

export function keyOf(message_id: string, recipient: string): string {
  return `${message_id} ${recipient.toLowerCase()}`;
}

interface Quantiles {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

function quantiles(unordered: readonly number[]): Quantiles {
  const times = unordered.toSorted((left, right) => left - right);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { count: times.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}

function format({ count, p50, p95, p99, max }: Quantiles): string {
  return `p50 ${p50.toFixed(2)}, p95 ${p95.toFixed(2)}, p99 ${p99.toFixed(2)}, max ${max.toFixed(2)} (${count} copies)`;
}
