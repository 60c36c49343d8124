/**
 * What an operator may change by LIMITS, such as `LIMITS=smtp_after_dot=5m,database_answer=20s`. Durations are read as
 * milliseconds. docs/limits.md has a row for each, which `npm run docs` writes.
 */
export const limits = {
  smtp_dial: duration('10s', 'a connection to a mail server'),
  smtp_greeting: duration('5m', 'each reply from an MX host until the session is open: greeting, EHLO, STARTTLS'),
  smtp_command: duration('5m', "an MX host's reply to MAIL, RCPT and RSET"),
  smtp_data: duration('2m', "an MX host's reply to DATA"),
  smtp_block: duration('3m', 'the transfer of each 128 KiB block'),
  smtp_after_dot: duration('10m', 'the reply after the final dot; without one, the message may have arrived'),
  smtp_idle: duration('30s', 'an idle connection'),
  relay_greeting: duration('30s', 'smtp_greeting for relays in DELIVERY'),
  relay_command: duration('60s', 'smtp_command and smtp_data for relays in DELIVERY'),
  relay_connections: count(40, 'connections to a relay in DELIVERY, per worker'),
  site_connections: count(20, 'connections to one destination with mx, per worker'),
  dns_answer: duration('3s', 'an MX query, made twice'),
  no_domain_for: duration(
    '1h',
    'how long DNS must say, in three attempts, that a domain does not exist before its email bounces',
  ),
  database_connect: duration('5s', 'a connection to Postgres'),
  database_accept: duration('4s', "Postgres's response to an accept batch"),
  database_answer: duration('10s', "Postgres's response to any other statement; then the connection is closed"),
  database_chore: duration('5m', 'the same for periodic tasks, such as statistics'),
  database_start: duration('60s', 'how long a start waits for the database'),
  migration_wait: duration('60s', 'how long a start of some roles waits for npm run migrate'),
  drain: duration(
    '1ms',
    'how long after SIGTERM requests are still accepted while `/readyz` returns 503, so that a load balancer can drain',
  ),
  worker_beat: duration('500ms', 'the interval of worker heartbeats and checks for dead workers'),
  worker_silence: duration(
    '5s',
    'the time without heartbeat and connection after which a worker counts as dead; a second earlier it starts no more content',
  ),
  relay_longest_pause: duration('10s', 'the longest pause for a failing relay in DELIVERY'),
  site_longest_pause: duration('5m', 'the longest pause for a failing destination with mx'),
  unrecorded_mails: count(128, 'emails that a worker may have sent and not recorded: a kill may send them twice'),
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof limits;
export type Limits = Readonly<Record<LimitName, number>>;

export interface Limit {
  readonly kind: 'duration' | 'count';
  readonly usual: string;
  readonly of: string;
}

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const MAX_MS = 30 * UNITS.d;
const MAX_COUNT = 10_000;

function duration(usual: string, of: string) {
  return { kind: 'duration', usual, of } as const;
}

function count(usual: number, of: string) {
  return { kind: 'count', usual: String(usual), of } as const;
}

/** All limits, with those that a text such as `smtp_after_dot=5m` changes; or what is wrong with the text. */
export function readLimits(entries: readonly string[]): { readonly limits: Limits } | { readonly problem: string } {
  const by_name = new Map<string, string>();
  for (const entry of entries) {
    const [name = '', value = '', ...rest] = entry.split('=').map((part) => part.trim());
    if (!Object.hasOwn(limits, name) || rest.length > 0)
      return { problem: `has "${entry}", which is not a limit from docs/limits.md, such as smtp_after_dot=10m` };
    by_name.set(name, value);
  }
  const values: Record<string, number> = {};
  for (const [name, limit] of Object.entries(limits)) {
    const text = by_name.get(name) ?? limit.usual;
    const value = readLimit(limit, text);
    if (value === null)
      return {
        problem: `has "${name}=${text}", which is not a ${limit.kind === 'duration' ? 'duration such as 500ms, 30s or 5m' : 'number from 1 to 10000'}`,
      };
    values[name] = value;
  }
  // The loop above has set every name of the table.
  return { limits: Object.freeze(values as Record<LimitName, number>) };
}

function readLimit({ kind }: Limit, text: string): number | null {
  const [, digits, unit = ''] = /^(\d{1,9})(ms|s|m|h|d)?$/.exec(text) ?? [];
  if (digits === undefined || (kind === 'count') !== (unit === '')) return null;
  const value = kind === 'count' ? Number(digits) : Number(digits) * UNITS[unit as keyof typeof UNITS];
  return value >= 1 && value <= (kind === 'count' ? MAX_COUNT : MAX_MS) ? value : null;
}
