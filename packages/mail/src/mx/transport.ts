import type { validateMx } from 'mailauth/lib/mta-sts.js';
import { getDomain } from 'tldts';
import { cleanRemoteText, type Reply } from '../reply.ts';
import type { Envelope, Mailer, Raw, SendOutcome } from '../send-outcome.ts';
import { createSessionPool, type SessionPool } from '../smtp/client.ts';
import type { SmtpRoute, SmtpRoutes } from '../smtp/route.ts';
import type { SmtpTimeouts } from '../smtp/transaction.ts';
import type { MxHost } from './connector.ts';
import { type ConnectorOptions, openConnector } from './open-connector.ts';
import { createStsPolicies, type StsPolicy, type StsPolicyStore } from './sts-policies.ts';

export interface MxTransportOptions extends ConnectorOptions {
  readonly port: number;
  readonly helo_name: string;
  /** To the servers of one site. */
  readonly max_connections: number;
  readonly timeouts?: Partial<SmtpTimeouts> | undefined;
  /** Where hosts of MTA-STS policies listen. */
  readonly policy_port?: number | undefined;
  /** Where policies outlive the process. */
  readonly policy_store?: StsPolicyStore | undefined;
  /** A clock for what is kept. */
  readonly now?: () => number;
}

/** What is known of one recipient domain. */
type Destination =
  | { readonly kind: 'site'; readonly provider: Provider | null; readonly key: string; readonly site: Site }
  | { readonly kind: 'no_mail'; readonly reply: Reply }
  | { readonly kind: 'failed'; readonly error: string; readonly by_policy: boolean };

/** The registrable domain of all mail servers of a domain, and the best of them. */
interface Provider {
  readonly name: string;
  readonly host: string;
}

/** Servers that take mail under the same rules: domains with the same ones share their connections. */
interface Site {
  readonly hosts: readonly MxHost[];
  readonly notes: readonly string[];
  readonly enforced: boolean;
}

interface Looked {
  readonly answer: Promise<Destination>;
  /** Null while DNS is asked. */
  readonly known: Destination | null;
  readonly expires_at: number;
}

const MIN_TTL_MS = 60_000;
const MAX_TTL_MS = 10 * 60_000;
const FAILED_TTL_MS = 30_000;
const UNREACHABLE_MS = 5 * 60_000;
const MAX_DOMAINS = 10_000;
const MAX_POOLS = 1000;
const MAX_KEPT_SESSIONS = 500;
// RFC 5321 section 5.1 wants at least two; more than these would hold the mail up for minutes.
const MAX_ROUTES = 6;
const ABORTED = 'The attempt was aborted.';
const STOPPED = 'The transport is stopped.';

/** Sends straight to the mail servers of each recipient's domain. */
export function createMxTransport(options: MxTransportOptions): Mailer {
  const now = options.now ?? (() => performance.now());
  const connector = openConnector(options);
  const policies = createStsPolicies(connector, { now, port: options.policy_port, store: options.policy_store });
  const domains = new Map<string, Looked>();
  const pools = new Map<string, { readonly pool: SessionPool; readonly current: { site: Site } }>();
  const unreachable = new Map<string, number>();
  /** Hosts with which a session came about. */
  const greeted = new Set<string>();
  const kept = { count: 0, most: MAX_KEPT_SESSIONS };
  let stopped = false;

  async function send(envelope: Envelope, raw: Raw, signal: AbortSignal): Promise<SendOutcome> {
    if (stopped) return notSent({ error: STOPPED });
    const destination = await unlessAborted(destinationOf(domainOf(envelope.to)), signal);
    if (stopped || destination === null) return notSent({ error: stopped ? STOPPED : ABORTED });
    if (destination.kind === 'no_mail') return notSent({ kind: 'rejected', reply: destination.reply });
    if (destination.kind === 'failed') {
      return notSent({ error: destination.error, tls_policy: destination.by_policy ? 'mta-sts' : null });
    }
    const outcome = await poolOf(destination.key, destination.site).send(envelope, raw, signal);
    if (outcome.stage !== 'connect') noteGreeting(outcome.target.replace(/:\d+$/, ''));
    return outcome;
  }

  function noteGreeting(host: string): void {
    greeted.delete(host);
    greeted.add(host);
    const [oldest] = greeted;
    if (greeted.size > MAX_DOMAINS && oldest !== undefined) greeted.delete(oldest);
  }

  /** From what is kept, as long as that is good; those who ask at the same time share the question. */
  function destinationOf(domain: string): Promise<Destination> {
    const looked = domains.get(domain);
    if (looked && looked.expires_at > now()) return looked.answer;
    const answer = lookUp(domain).catch((error: unknown) => {
      domains.delete(domain);
      throw error;
    });
    // The old answer still names the lane.
    remember(domain, { answer, known: looked?.known ?? null, expires_at: Number.POSITIVE_INFINITY });
    return answer;
  }

  async function lookUp(domain: string): Promise<Destination> {
    const [answer, policy, { validateMx }] = await Promise.all([
      connector.resolve(domain),
      policies.policyOf(domain),
      import('mailauth/lib/mta-sts.js'),
    ]);
    const found: Destination =
      answer.kind === 'hosts'
        ? destinationAt(domain, answer.hosts, policy, validateMx)
        : answer.kind === 'no_mail'
          ? answer
          : { ...answer, by_policy: false };
    const ttl_ms =
      found.kind === 'site' && answer.kind === 'hosts'
        ? Math.min(Math.max(answer.ttl_seconds * 1000, MIN_TTL_MS), MAX_TTL_MS)
        : FAILED_TTL_MS;
    remember(domain, { answer: Promise.resolve(found), known: found, expires_at: now() + ttl_ms });
    return found;
  }

  function remember(domain: string, looked: Looked): void {
    domains.delete(domain);
    domains.set(domain, looked);
    const [oldest] = domains.keys();
    if (domains.size > MAX_DOMAINS && oldest !== undefined) domains.delete(oldest);
  }

  function poolOf(key: string, site: Site): SessionPool {
    const open = pools.get(key);
    if (open) {
      open.current.site = site;
      return open.pool;
    }
    if (pools.size >= MAX_POOLS) {
      for (const [name, { pool }] of pools) if (pool.isEmpty()) pools.delete(name);
    }
    const { helo_name, max_connections, timeouts } = options;
    const current = { site };
    const routes = () => routesTo(current.site);
    const pool = createSessionPool({ routes, helo_name, max_connections, timeouts, kept, laneOf });
    pools.set(key, { pool, current });
    return pool;
  }

  /** By preference; hosts of the same one in any order, and addresses that could not be reached lately last. */
  function routesTo(site: Site): SmtpRoutes {
    const shuffled = site.hosts.map((host) => ({ host, order: Math.random() }));
    shuffled.sort((one, other) => one.host.preference - other.host.preference || one.order - other.order);
    const routes = shuffled.flatMap(({ host }) => host.addresses.map((address) => routeTo(site, host, address)));
    const isLate = ({ address }: SmtpRoute) => (unreachable.get(address ?? '') ?? 0) > now();
    const ranked = [...routes.filter((route) => !isLate(route)), ...routes.filter(isLate)];
    return { ranked: ranked.slice(0, MAX_ROUTES), notes: site.notes };
  }

  function routeTo(site: Site, host: MxHost, address: string): SmtpRoute {
    return {
      host: host.name,
      port: options.port,
      secure: false,
      tls: site.enforced ? 'required' : 'opportunistic',
      checked: site.enforced,
      tls_policy: site.enforced ? 'mta-sts' : 'opportunistic',
      address,
      async dial(signal) {
        const dialled = await connector.dial(address, options.port, signal);
        unreachable.delete(address);
        if (!dialled.ok && !signal.aborted) {
          if (unreachable.size >= MAX_DOMAINS) unreachable.clear();
          unreachable.set(address, now() + UNREACHABLE_MS);
        }
        return dialled;
      },
    };
  }

  /**
   * The provider that serves the domain, once known, because many domains are served by one. Whoever owns a domain may
   * name any hosts as its own; so its mail joins that of a provider only where all of them are the provider's, and
   * the best has been seen to speak SMTP. Else what becomes of it is news of the domain alone.
   */
  function laneOf(to: string): string {
    const domain = domainOf(to);
    const known = domains.get(domain)?.known;
    if (known?.kind !== 'site' || known.provider === null) return domain;
    return greeted.has(known.provider.host) ? known.provider.name : domain;
  }

  async function stop(): Promise<void> {
    stopped = true;
    connector.stop();
    await Promise.all([...pools.values()].map(({ pool }) => pool.stop()));
  }

  return { send, laneOf, stop };
}

/** Which of the hosts mail may go to, and what is to be said about the others. */
function destinationAt(
  domain: string,
  hosts: readonly MxHost[],
  policy: StsPolicy | null,
  validate: typeof validateMx,
): Destination {
  const enforced = policy?.mode === 'enforce';
  const notes: string[] = [];
  let by_policy = false;
  const usable = hosts.filter((host) => {
    if (host.refused.length > 0) notes.push(`${host.name}: ${host.refused.join(', ')}`);
    else if (host.addresses.length === 0) notes.push(`${host.name}: no address`);
    if (host.addresses.length === 0) return false;
    if (!policy || policy.mode === 'none' || validate(host.name, { ...policy, mx: [...policy.mx] }).valid) return true;
    notes.push(`${host.name}: not a host of the MTA-STS policy of ${domain}${enforced ? '' : ', which is in testing'}`);
    by_policy ||= enforced;
    return !enforced;
  });
  const [best] = usable.toSorted((one, other) => one.preference - other.preference);
  if (!best) {
    const error = cleanRemoteText(`No mail server of ${domain} may be connected to: ${notes.join('; ')}`);
    return { kind: 'failed', error, by_policy };
  }
  const provider = providerOf(best.name);
  // The notes too, as they may name the domain, and its name is nobody else's business.
  const key = JSON.stringify([enforced, usable.map(({ name, preference }) => [preference, name]).sort(), notes]);
  return {
    kind: 'site',
    provider: usable.every(({ name }) => providerOf(name) === provider) ? { name: provider, host: best.name } : null,
    key,
    site: { hosts: usable, notes, enforced },
  };
}

function providerOf(host: string): string {
  return getDomain(host, { allowPrivateDomains: true }) ?? host;
}

function domainOf(address: string): string {
  return address
    .slice(address.lastIndexOf('@') + 1)
    .toLowerCase()
    .replace(/\.$/, '');
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const giveUp = () => resolve(null);
    if (signal.aborted) return giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    void work.finally(() => signal.removeEventListener('abort', giveUp)).then(resolve, reject);
  });
}

/** Decided before any server was spoken to. */
function notSent(facts: Partial<SendOutcome>): SendOutcome {
  return {
    kind: 'deferred',
    reply: null,
    error: facts.reply?.text ?? null,
    target: '',
    address: null,
    tls: null,
    tls_policy: null,
    phases_ms: { connect: 0, tls: 0, mail: 0, data: 0 },
    stage: 'connect',
    transcript: '',
    ...facts,
  };
}
