import { domainOf } from '../address/domain-of.ts';
import type { Envelope, Mailer, Raw, SendOutcome } from '../outcome/send-outcome.ts';
import type { SmtpRoute, SmtpRoutes } from '../smtp/route.ts';
import { createSessionPool, type SessionPool } from '../smtp/session-pool.ts';
import type { SmtpTimeouts } from '../smtp/timeouts.ts';
import type { MxConnector, MxHost } from './connector.ts';
import { Destinations, type Site } from './destinations.ts';
import { type ConnectorOptions, openConnector } from './open-connector.ts';
import { createStsPolicies, type StsPolicyStore } from './sts-policies.ts';

export interface MxTransportOptions extends ConnectorOptions {
  readonly port: number;
  readonly helo_name: string;
  /** The maximum number of connections to the servers of one site. */
  readonly max_connections: number;
  readonly timeouts?: Partial<SmtpTimeouts> | undefined;
  /** The port of the hosts that serve MTA-STS policies. */
  readonly policy_port?: number | undefined;
  /** Stores policies beyond the life of the process. */
  readonly policy_store?: StsPolicyStore | undefined;
  /** The clock of the caches. */
  readonly now?: () => number;
}

interface SitePool {
  readonly pool: SessionPool;
  /** The site as of the last lookup. */
  readonly current: { site: Site };
}

const UNREACHABLE_MS = 5 * 60_000;
const MAX_ADDRESSES = 10_000;
const MAX_GREETED = 10_000;
const MAX_POOLS = 1000;
const MAX_KEPT_SESSIONS = 500;
// Six dial timeouts add up to a minute; RFC 5321 section 5.1 requires at least two addresses.
const MAX_ROUTES = 6;
const ABORTED = 'The attempt was aborted.';
const STOPPED = 'The transport is stopped.';

/** Creates a transport that sends directly to the mail servers of each recipient's domain. */
export function createMxTransport(options: MxTransportOptions): Mailer {
  const transport = new MxTransport(options);
  return {
    send: (envelope, raw, signal) => transport.send(envelope, raw, signal),
    laneOf: (to) => transport.laneOf(to),
    stop: () => transport.stop(),
  };
}

class MxTransport {
  readonly #options: MxTransportOptions;
  readonly #now: () => number;
  readonly #connector: MxConnector;
  readonly #destinations: Destinations;
  /** Connection pools, by site key. */
  readonly #pools = new Map<string, SitePool>();
  /** Addresses that could not be reached, each with the time until which it is tried after all other addresses. */
  readonly #unreachable = new Map<string, number>();
  /** Hosts with which a session has been opened. */
  readonly #greeted = new Set<string>();
  /** The number of connections that all pools together keep open. */
  readonly #kept = { count: 0, most: MAX_KEPT_SESSIONS };
  #stopped = false;

  constructor(options: MxTransportOptions) {
    this.#options = options;
    const now = options.now ?? (() => performance.now());
    const connector = openConnector(options);
    const policies = createStsPolicies(connector, { now, port: options.policy_port, store: options.policy_store });
    this.#now = now;
    this.#connector = connector;
    this.#destinations = new Destinations({ connector, policyOf: (domain) => policies.policyOf(domain), now });
  }

  async send(envelope: Envelope, raw: Raw, signal: AbortSignal): Promise<SendOutcome> {
    if (this.#stopped) return notSent({ error: STOPPED });
    const started_at = performance.now();
    const destination = await unlessAborted(this.#destinations.of(queryName(envelope.to)), signal);
    if (this.#stopped || destination === null) return notSent({ error: this.#stopped ? STOPPED : ABORTED });
    // A domain that seems to be missing may come back, so only its own declaration that it accepts no mail is final.
    if (destination.kind === 'no_mail')
      return notSent({ kind: destination.declared ? 'rejected' : 'deferred', reply: destination.reply });
    if (destination.kind === 'failed') {
      return notSent({ error: destination.error, tls_policy: destination.by_policy ? 'mta-sts' : null });
    }
    const dns_ms = performance.now() - started_at;
    const outcome = await this.#poolOf(destination.key, destination.site).send(envelope, raw, signal);
    if (outcome.stage !== 'connect') this.#noteGreeting(outcome.target.replace(/:\d+$/, ''));
    return { ...outcome, dns_ms };
  }

  /**
   * Returns the provider that serves the domain, once known, because one provider serves many domains. A domain may
   * name any host as its mail server, so its messages share the provider's lane only if all its hosts belong to the
   * provider and the preferred host has spoken SMTP. Otherwise, failures of the domain affect only the domain itself.
   */
  laneOf(to: string): string {
    const domain = queryName(to);
    const known = this.#destinations.known(domain);
    if (known?.kind !== 'site' || known.provider === null) return domain;
    return this.#greeted.has(known.provider.host) ? known.provider.name : domain;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#connector.stop();
    await Promise.all([...this.#pools.values()].map(({ pool }) => pool.stop()));
  }

  #noteGreeting(host: string): void {
    this.#greeted.delete(host);
    this.#greeted.add(host);
    const [oldest] = this.#greeted;
    if (this.#greeted.size > MAX_GREETED && oldest !== undefined) this.#greeted.delete(oldest);
  }

  #poolOf(key: string, site: Site): SessionPool {
    const open = this.#pools.get(key);
    if (open) {
      open.current.site = site;
      return open.pool;
    }
    if (this.#pools.size >= MAX_POOLS) {
      for (const [name, { pool }] of this.#pools) if (pool.isEmpty()) this.#pools.delete(name);
    }
    const { helo_name, max_connections, timeouts } = this.#options;
    const current = { site };
    const routes = () => this.#routesTo(current.site);
    const laneOf = (to: string) => this.laneOf(to);
    const pool = createSessionPool({
      routes,
      helo_name,
      max_connections,
      timeouts,
      pipelines: false,
      kept: this.#kept,
      laneOf,
    });
    this.#pools.set(key, { pool, current });
    return pool;
  }

  #noteUnreachable(address: string): void {
    if (this.#unreachable.size >= MAX_ADDRESSES) this.#unreachable.clear();
    this.#unreachable.set(address, this.#now() + UNREACHABLE_MS);
  }

  /** Orders routes by preference, with hosts of equal preference shuffled and recently unreachable addresses last. */
  #routesTo(site: Site): SmtpRoutes {
    const shuffled = site.hosts.map((host) => ({ host, order: Math.random() }));
    shuffled.sort((one, other) => one.host.preference - other.host.preference || one.order - other.order);
    const routes = shuffled.flatMap(({ host }) => host.addresses.map((address) => this.#routeTo(site, host, address)));
    const isLate = ({ address }: SmtpRoute) => (this.#unreachable.get(address ?? '') ?? 0) > this.#now();
    const ranked = [...routes.filter((route) => !isLate(route)), ...routes.filter(isLate)];
    return { ranked: ranked.slice(0, MAX_ROUTES), notes: site.notes };
  }

  #routeTo(site: Site, host: MxHost, address: string): SmtpRoute {
    return {
      host: host.name,
      port: this.#options.port,
      secure: false,
      tls: site.enforced ? 'required' : 'opportunistic',
      checked: site.enforced,
      tls_policy: site.enforced ? 'mta-sts' : 'opportunistic',
      address,
      dial: async (signal) => {
        const dialled = await this.#connector.dial(address, this.#options.port, signal);
        this.#unreachable.delete(address);
        if (!dialled.ok && !signal.aborted) this.#noteUnreachable(address);
        return dialled;
      },
      noteSilent: () => this.#noteUnreachable(address),
    };
  }
}

/** Returns the domain in the form used for DNS queries. */
function queryName(address: string): string {
  return domainOf(address).toLowerCase().replace(/\.$/, '');
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const giveUp = () => resolve(null);
    if (signal.aborted) return giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    void work.finally(() => signal.removeEventListener('abort', giveUp)).then(resolve, reject);
  });
}

/** Returns the outcome of an attempt without a connection. */
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
