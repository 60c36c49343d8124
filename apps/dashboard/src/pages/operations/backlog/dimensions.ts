export const dimensions = ['destination', 'provider', 'sender_domain', 'api_key', 'tag'] as const;
export type Dimension = (typeof dimensions)[number];

/** What finds the mail of a row in the log; null where the log has no such filter. */
export function filterOf(by: Dimension, key: string): Readonly<Record<string, unknown>> | null {
  switch (by) {
    case 'destination':
      return { to_domain: key };
    case 'sender_domain':
      return { domain: key };
    case 'tag':
      return { tag: [key] };
    case 'provider':
    case 'api_key':
      return null;
  }
}

/** The search of Emails that shows the same. */
export function searchOf(by: Dimension, key: string): string | null {
  const name = { destination: 'at', sender_domain: 'domain', tag: 'tag', provider: null, api_key: null }[by];
  if (name === null) return null;
  return `status:queued,deferred ${name}:${/\s/.test(key) ? `"${key}"` : key}`;
}

/** What a hold on a row holds; null where holds know no such thing. */
export function heldBy(by: Dimension): 'destination' | 'sender_domain' | 'api_key' | null {
  return by === 'destination' || by === 'sender_domain' || by === 'api_key' ? by : null;
}
