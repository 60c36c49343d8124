import { nowMs } from '../../../api/clock.ts';
import type { Dimension } from './search.ts';
import { words } from './strings.ts';

/**
 * The statuses of email that is waiting now. No row counts scheduled email, so an action on a row must not affect it.
 */
export const WAITING = 'queued,deferred,sending';

/** Returns the log filter that matches a row's email, or null if the log cannot filter by this dimension. */
export function filterOf(by: Dimension, key: string): Readonly<Record<string, unknown>> | null {
  switch (by) {
    case 'destination':
      return { status: WAITING, to_domain: key };
    case 'sender_domain':
      return { status: WAITING, domain: key };
    case 'tag':
      return { status: WAITING, tag: [key] };
    case 'transport':
      // Matches by attempts, so email that has not been attempted yet counts in the row only.
      return { status: WAITING, transport: key };
    case 'provider':
    case 'api_key':
      return null;
  }
}

const terms: Readonly<Record<Dimension, string | null>> = {
  destination: 'at',
  sender_domain: 'domain',
  tag: 'tag',
  transport: 'transport',
  provider: null,
  api_key: null,
};

/** Returns the equivalent search of the Emails page, or null if there is none. */
export function searchOf(by: Dimension, key: string): string | null {
  const name = terms[by];
  if (name === null) return null;
  return `status:${WAITING} ${name}:${/\s/.test(key) ? `"${key}"` : key}`;
}

/** Returns the scope of a hold on a row, or null if rows of this dimension cannot be held. */
export function heldBy(by: Dimension): 'destination' | 'sender_domain' | 'api_key' | null {
  return by === 'destination' || by === 'sender_domain' || by === 'api_key' ? by : null;
}

interface Ages {
  readonly what: string;
  /** The same ages as a log filter by acceptance time. */
  readonly range: () => Readonly<Record<string, string>>;
}

/**
 * Returns the ages of a column. The first column is the youngest email. Each of the others includes everything older,
 * because old email is acted on together.
 */
export function agesOf(bounds: readonly (number | null)[], at: number | null): Ages {
  const edge = at === null ? null : (bounds[Math.max(0, at - 1)] ?? null);
  if (edge === null) return { what: words.menu.all, range: () => ({}) };
  const time = () => new Date(nowMs() - edge * 60_000).toISOString();
  const age = words.age(edge);
  return at === 0
    ? { what: words.menu.within(age), range: () => ({ since: time() }) }
    : { what: words.menu.older(age), range: () => ({ until: time() }) };
}
