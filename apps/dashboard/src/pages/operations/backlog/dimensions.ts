import { nowMs } from '../../../parts/clock.ts';
import { words } from './strings.ts';

export const dimensions = ['destination', 'provider', 'sender_domain', 'api_key', 'tag'] as const;
export type Dimension = (typeof dimensions)[number];

/** The statuses of mail that waits now. No row counts scheduled mail, so an action on a row must not touch it. */
export const WAITING = 'queued,deferred,sending';

/** The log filter that finds the mail of a row; null if the log has none. */
export function filterOf(by: Dimension, key: string): Readonly<Record<string, unknown>> | null {
  switch (by) {
    case 'destination':
      return { status: WAITING, to_domain: key };
    case 'sender_domain':
      return { status: WAITING, domain: key };
    case 'tag':
      return { status: WAITING, tag: [key] };
    case 'provider':
    case 'api_key':
      return null;
  }
}

/** The search of Emails that shows the same; null if there is none. */
export function searchOf(by: Dimension, key: string): string | null {
  const name = { destination: 'at', sender_domain: 'domain', tag: 'tag', provider: null, api_key: null }[by];
  if (name === null) return null;
  return `status:${WAITING} ${name}:${/\s/.test(key) ? `"${key}"` : key}`;
}

/** The scope of a hold on a row; null if there is none. */
export function heldBy(by: Dimension): 'destination' | 'sender_domain' | 'api_key' | null {
  return by === 'destination' || by === 'sender_domain' || by === 'api_key' ? by : null;
}

/** What a dialog does: to the mail of a row, or to the hold on it. */
export const backlogActions = ['hold', 'release', 'limit', 'retry', 'give_up'] as const;
export type BacklogAction = (typeof backlogActions)[number];

interface Ages {
  readonly what: string;
  /** The same ages as a filter of the log by the time of acceptance. */
  readonly range: () => Readonly<Record<string, string>>;
}

/**
 * The first column is the youngest mail; each other one includes everything older, because old mail is acted on
 * together.
 */
export function agesOf(bounds: readonly (number | null)[], at: number | null): Ages {
  const edge = at === null ? null : (bounds[Math.max(0, at - 1)] ?? null);
  if (edge === null) return { what: words.menu.all, range: () => ({}) };
  const time = () => new Date(nowMs() - edge * 60_000).toISOString();
  const age = words.upTo(edge);
  return at === 0
    ? { what: words.menu.within(age), range: () => ({ since: time() }) }
    : { what: words.menu.older(age), range: () => ({ until: time() }) };
}
