export const dimensions = ['destination', 'provider', 'sender_domain', 'api_key', 'tag'] as const;
export type Dimension = (typeof dimensions)[number];

/** The statuses of mail that waits now: what is scheduled for later is in no row, and no action on a row may touch it. */
export const WAITING = 'queued,deferred,sending';

/** What finds the mail of a row in the log; null where the log has no such filter. */
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

/** The search of Emails that shows the same. */
export function searchOf(by: Dimension, key: string): string | null {
  const name = { destination: 'at', sender_domain: 'domain', tag: 'tag', provider: null, api_key: null }[by];
  if (name === null) return null;
  return `status:${WAITING} ${name}:${/\s/.test(key) ? `"${key}"` : key}`;
}

/** What a hold on a row holds; null where holds know no such thing. */
export function heldBy(by: Dimension): 'destination' | 'sender_domain' | 'api_key' | null {
  return by === 'destination' || by === 'sender_domain' || by === 'api_key' ? by : null;
}
