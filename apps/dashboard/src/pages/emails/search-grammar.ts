import { nowMs } from '../../api/clock.ts';
import type { Inputs } from '../../api/trpc.ts';
import { mailStates } from '../../parts/mail-status.tsx';

type Filter = Omit<Extract<Inputs['emails']['list'], object>, 'limit' | 'cursor'>;

export interface Search {
  readonly filter: Filter;
  /** The ID of the email to open instead of a list. */
  readonly id: string | null;
  /** Words that the grammar does not recognize. */
  readonly unknown: readonly string[];
}

const names = ['status', 'to', 'from', 'tag', 'domain', 'at', 'transport', 'id', 'before', 'after'] as const;
type Name = (typeof names)[number];

const TOKEN = /([a-z]+):("[^"]*"|\S+)|"[^"]*"|\S+/g;

const DOMAIN = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}$/i;

/**
 * Parses a search such as `status:bounced to:ada@example.com tag:invoice before:2026-11-01`. `at:` matches a
 * recipient's domain, `transport:` one of the attempts' transports, and `after:24h` the last 24 hours. A bare address matches a recipient, a bare
 * domain the recipients at it, a bare ID an email, and a bare state a status.
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
    else if (DOMAIN.test(token)) add('at', token.toLowerCase());
    else if (token.toLowerCase() in mailStates) add('status', token.toLowerCase());
    else unknown.push(token);
  }
  const one = (name: Name) => values.get(name)?.at(-1);
  const tags = values.get('tag');
  const [status, to, from, domain, at, transport, before, after] = [
    values.get('status')?.join(','),
    one('to'),
    one('from'),
    one('domain'),
    one('at'),
    one('transport'),
    timeOf(one('before')),
    timeOf(one('after')),
  ];
  const filter: Filter = {
    ...(status && { status }),
    ...(to && { to }),
    ...(from && { from }),
    ...(domain && { domain }),
    ...(at && { to_domain: at }),
    ...(transport && { transport }),
    ...(tags && { tag: tags }),
    ...(before && { until: before }),
    ...(after && { since: after }),
  };
  return { filter, id: one('id') ?? null, unknown };
}

const SPAN = /^(\d{1,3})([hd])$/;
const UNIT_MS = { h: 3_600_000, d: 86_400_000 };

/** Returns the start of the day in UTC for a date, a past time for a span such as 24h, and any other text unchanged. */
function timeOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const [, count, unit] = SPAN.exec(text) ?? [];
  if (unit === 'h' || unit === 'd') return new Date(nowMs() - Number(count) * UNIT_MS[unit]).toISOString();
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text;
}

/** Returns the search text with its terms of a name replaced by the given value. Null removes them. */
export function withTerm(text: string, name: 'status' | 'after' | 'before', value: string | null): string {
  const rest = text.replace(new RegExp(`(?:^|\\s)${name}:\\S+`, 'g'), '').trim();
  return [value && `${name}:${value}`, rest].filter(Boolean).join(' ');
}

/** Returns the value of a term as written; null if there is none. */
export function termOf(text: string, name: 'after' | 'before'): string | null {
  return new RegExp(`(?:^|\\s)${name}:(\\S+)`).exec(text)?.[1] ?? null;
}
