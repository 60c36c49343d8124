import { getServers } from 'node:dns';
import { createAddressGuard } from '../address-guard.ts';
import { cleanRemoteText } from '../remote-text.ts';
import { askServer, type QueryOutcome, SILENT, UNREACHABLE } from './ask-server.ts';
import { type Authority, createAuthorityWalk, reasonOf } from './find-authority.ts';
import { type NameServer, type RecordType, readServer, serverName } from './message.ts';
import { ROOTS } from './roots.ts';

export type DnsRecordType = Exclude<RecordType, 'NS'>;

/** The server that responded. */
export interface DnsSource {
  readonly resolver: string;
  /** Whether the source is a server of the zone itself rather than a cache. */
  readonly authoritative: boolean;
}

/** none: the name or type does not exist. error: the result is unknown, so no conclusion may be drawn. */
export type DnsAnswer =
  | {
      readonly kind: 'found';
      readonly records: readonly string[];
      /** How much longer caches may store the answer. */
      readonly ttl_seconds: number;
      /** The CNAME target of the name, if there is one. */
      readonly alias: string | null;
      readonly source: DnsSource;
    }
  | { readonly kind: 'none'; readonly alias: string | null; readonly source: DnsSource }
  | { readonly kind: 'error'; readonly message: string };

/** Queries DNS and never throws. Published text is returned as a few short, cleaned lines. */
export interface DnsLookup {
  lookup(name: string, type: DnsRecordType): Promise<DnsAnswer>;
  /**
   * Returns the cached response that receivers may still see, or null if lookup does not query the authoritative
   * servers.
   */
  cached(name: string, type: DnsRecordType): Promise<DnsAnswer | null>;
  /** The error message if no queried server responds. */
  readonly silence?: string;
}

const TRY_MS = 1500;
const TRIES = 2;
const WALK_MS = 4000;
const DEADLINE_MS = 6000;
const MAX_SERVERS = 3;
const MAX_RECORDS = 20;
const MAX_ALIASES = 8;
const CONFIGURED_SILENT = 'no server in DNS_SERVERS responded in time';
const CONFIGURED_UNREACHABLE = 'no server in DNS_SERVERS could be reached';
// If the network blocks outgoing DNS, every lookup would wait for the whole walk, so it is skipped for a while.
const SHUT_MS = 300_000;

/**
 * Creates a lookup. If servers are given, only those servers are queried. Otherwise the authoritative servers are
 * queried, so that a record counts as soon as it is published, and the system's resolvers are the fallback if the
 * network blocks outgoing DNS.
 */
export function createDnsLookup(
  servers: readonly string[],
  authority: Authority | null = defaultAuthority(servers),
): DnsLookup {
  const own_servers = servers.map(readServer);
  const resolve: Ask =
    own_servers.length > 0
      ? async (name, type) => blameConfigured(await askAll(own_servers, name, type))
      : (name, type) => askAll(systemServers(), name, type);
  if (!authority)
    return {
      lookup: (name, type) => inTime(follow(resolve, name, type), own_servers.length > 0 ? CONFIGURED_SILENT : SILENT),
      cached: async () => null,
      ...(own_servers.length > 0 && { silence: CONFIGURED_SILENT }),
    };
  const walk = createAuthorityWalk(authority);
  let shut_until = 0;
  const ask: Ask = async (name, type) => {
    if (performance.now() < shut_until) return resolve(name, type);
    const { outcome, shut } = await walk(name, type, AbortSignal.timeout(WALK_MS));
    if (outcome.ok) return { ...outcome, authoritative: true };
    if (shut) shut_until = performance.now() + SHUT_MS;
    const resolved = await resolve(name, type);
    // If the resolvers fail too, the error from the authoritative servers is more useful than theirs.
    return resolved.ok || shut ? resolved : outcome;
  };
  return {
    lookup: (name, type) => inTime(follow(ask, name, type)),
    cached: (name, type) => inTime(follow(resolve, name, type)),
  };
}

/**
 * Resolves with an error once the deadline has passed. Queries still running then finish on their own, because each has
 * a time limit.
 */
async function inTime(answer: Promise<DnsAnswer>, message = SILENT): Promise<DnsAnswer> {
  const { promise: timeout, resolve } = Promise.withResolvers<DnsAnswer>();
  const timer = setTimeout(() => resolve({ kind: 'error', message }), DEADLINE_MS);
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Applies one deadline to several lookups: a lookup without a response by the deadline resolves to an error. */
export async function withDeadline<T>(dns: DnsLookup, ms: number, ask: (dns: DnsLookup) => Promise<T>): Promise<T> {
  const { promise: timeout, resolve } = Promise.withResolvers<DnsAnswer>();
  let has_timed_out = false;
  const timer = setTimeout(() => {
    has_timed_out = true;
    resolve({ kind: 'error', message: dns.silence ?? SILENT });
  }, ms);
  try {
    return await ask({
      lookup: (name, type) => (has_timed_out ? timeout : Promise.race([dns.lookup(name, type), timeout])),
      cached: (name, type) => (has_timed_out ? timeout : Promise.race([dns.cached(name, type), timeout])),
    });
  } finally {
    clearTimeout(timer);
  }
}

function defaultAuthority(servers: readonly string[]): Authority | null {
  if (servers.length > 0) return null;
  return { roots: ROOTS.map(readServer), guard: createAddressGuard([]), port: 53 };
}

function systemServers(): NameServer[] {
  return getServers().map(readServer);
}

type Ask = (name: string, type: RecordType) => Promise<QueryOutcome & { readonly authoritative?: true }>;

/** Returns whether an error concerns the servers in DNS_SERVERS rather than the name. */
export function isConfiguredServerError(message: string): boolean {
  return message === CONFIGURED_SILENT || message === CONFIGURED_UNREACHABLE;
}

function blameConfigured(outcome: QueryOutcome): QueryOutcome {
  if (outcome.ok || (outcome.why !== SILENT && outcome.why !== UNREACHABLE)) return outcome;
  return { ok: false, why: outcome.why === SILENT ? CONFIGURED_SILENT : CONFIGURED_UNREACHABLE };
}

async function askAll(servers: readonly NameServer[], name: string, type: RecordType): Promise<QueryOutcome> {
  let outcome: QueryOutcome = { ok: false, why: UNREACHABLE };
  // An error reply from one server explains more than a timeout of another.
  let refusal: QueryOutcome | null = null;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    for (const server of servers.slice(0, MAX_SERVERS)) {
      outcome = await askServer(server, { name, type, recurse: true }, TRY_MS);
      if (!outcome.ok) continue;
      const { code } = outcome.reply;
      if (code === 'ok' || code === 'no_such_name') return outcome;
      refusal = { ok: false, why: reasonOf(code) };
    }
  }
  return refusal ?? outcome;
}

/** Follows aliases through the zones they lead to. */
async function follow(ask: Ask, asked_name: string, type: DnsRecordType): Promise<DnsAnswer> {
  let name = asked_name.toLowerCase();
  let alias: string | null = null;
  let ttl_seconds = Number.POSITIVE_INFINITY;
  for (let hops = 0; hops < MAX_ALIASES; ) {
    const outcome = await ask(name, type);
    if (!outcome.ok) return { kind: 'error', message: outcome.why };
    const { answers } = outcome.reply;
    const source = { resolver: serverName(outcome.server), authoritative: outcome.authoritative ?? false };
    const before = name;
    for (; hops < MAX_ALIASES; hops++) {
      const records = answers.filter((one) => one.name === name && one.type === type);
      if (records.length > 0) {
        const texts = records.slice(0, MAX_RECORDS).map((one) => cleanRemoteText(one.text));
        const ttls = records.map((one) => one.ttl_seconds);
        return { kind: 'found', records: texts, ttl_seconds: Math.min(ttl_seconds, ...ttls), alias, source };
      }
      const cname = answers.find((one) => one.name === name && one.type === 'CNAME');
      if (!cname) break;
      name = cname.text;
      ttl_seconds = Math.min(ttl_seconds, cname.ttl_seconds);
      alias ??= cleanRemoteText(name);
    }
    if (name === before || outcome.reply.code === 'no_such_name') return { kind: 'none', alias, source };
  }
  return { kind: 'error', message: 'the CNAME records form a loop' };
}
