import type { Inputs } from '../../api/trpc.ts';
import { type MailStatus, mailStates } from '../../parts/mail-status.tsx';

type Filter = Omit<Extract<Inputs['emails']['list'], object>, 'limit' | 'cursor'>;

export interface Search {
  readonly filter: Filter;
  /** The ID of the email to open instead of a list. */
  readonly id: string | null;
  /** Words that the grammar does not recognize. */
  readonly unknown: readonly string[];
}

const names = ['status', 'to', 'from', 'tag', 'domain', 'at', 'id', 'before', 'after'] as const;
type Name = (typeof names)[number];

const TOKEN = /([a-z]+):("[^"]*"|\S+)|"[^"]*"|\S+/g;

/**
 * Parses a search such as `status:bounced to:ada@example.com tag:invoice before:2026-11-01`. `at:` matches a
 * recipient's domain. A bare address matches a recipient, a bare ID an email, and a bare state a status.
 */
export function parseSearch(text: string): Search {
  const values = new Map<Name, string[]>();
  const unknown: string[] = [];
  const add = (name: Name, value: string) => values.set(name, [...(values.get(name) ?? []), value]);
  for (const [token, prefix, quoted] of text.matchAll(TOKEN)) {
    const name = names.find((one) => one === prefix);
    const value = (quoted ?? '').replace(/^"|"$/g, '');
    if (name && value !== '') add(name, value);
    else if (token.startsWith('msg_')) add('id', token);
    else if (token.includes('@')) add('to', token);
    else if (token.toLowerCase() in mailStates) add('status', token.toLowerCase());
    else unknown.push(token);
  }
  const one = (name: Name) => values.get(name)?.at(-1);
  const tags = values.get('tag');
  const [status, to, from, domain, at, before, after] = [
    values.get('status')?.join(','),
    one('to'),
    one('from'),
    one('domain'),
    one('at'),
    timeOf(one('before')),
    timeOf(one('after')),
  ];
  const filter: Filter = {
    ...(status && { status }),
    ...(to && { to }),
    ...(from && { from }),
    ...(domain && { domain }),
    ...(at && { to_domain: at }),
    ...(tags && { tag: tags }),
    ...(before && { until: before }),
    ...(after && { since: after }),
  };
  return { filter, id: one('id') ?? null, unknown };
}

/** Returns the start of the day in UTC for a date, and any other text unchanged. */
function timeOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text;
}

/** Returns the search text with its status terms replaced by the given status. Null removes them. */
export function withStatus(text: string, status: MailStatus | null): string {
  const rest = text.replace(/(?:^|\s)status:\S+/g, '').trim();
  return [status && `status:${status}`, rest].filter(Boolean).join(' ');
}
