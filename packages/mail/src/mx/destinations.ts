import { cleanRemoteText } from '@postrider/net';
import type { validateMx } from 'mailauth/lib/mta-sts.js';
import { getDomain } from 'tldts';
import type { Reply } from '../outcome/reply.ts';
import type { MxConnector, MxHost } from './connector.ts';
import type { StsPolicy } from './sts-policies.ts';

/** Where messages for a recipient domain go. */
export type Destination =
  | { readonly kind: 'site'; readonly provider: Provider | null; readonly key: string; readonly site: Site }
  | { readonly kind: 'no_mail'; readonly reply: Reply; readonly declared: boolean }
  | { readonly kind: 'failed'; readonly error: string; readonly by_policy: boolean };

/** The registrable domain shared by all mail servers of a domain, and the preferred server. */
export interface Provider {
  readonly name: string;
  readonly host: string;
}

/** Servers subject to the same TLS rules. Domains with the same site share its connections. */
export interface Site {
  readonly hosts: readonly MxHost[];
  readonly notes: readonly string[];
  readonly enforced: boolean;
}

interface DestinationLookup {
  readonly answer: Promise<Destination>;
  /** Null while DNS is being queried. */
  readonly known: Destination | null;
  readonly expires_at: number;
}

const MIN_TTL_MS = 60_000;
const MAX_TTL_MS = 10 * 60_000;
const FAILED_TTL_MS = 30_000;
const MAX_DOMAINS = 10_000;

export interface DestinationsOptions {
  readonly connector: Pick<MxConnector, 'resolve'>;
  policyOf(domain: string): Promise<StsPolicy | null>;
  readonly now: () => number;
}

/** Caches the destination of each domain, based on DNS and MTA-STS. */
export class Destinations {
  readonly #options: DestinationsOptions;
  readonly #domains = new Map<string, DestinationLookup>();

  constructor(options: DestinationsOptions) {
    this.#options = options;
  }

  /** Returns the cached destination while it is fresh. Concurrent callers share one lookup. */
  of(domain: string): Promise<Destination> {
    const looked = this.#domains.get(domain);
    if (looked && looked.expires_at > this.#options.now()) return looked.answer;
    const answer = this.#lookUp(domain).catch((error: unknown) => {
      this.#domains.delete(domain);
      throw error;
    });
    // Until the response arrives, the old destination still names the lane.
    this.#remember(domain, { answer, known: looked?.known ?? null, expires_at: Number.POSITIVE_INFINITY });
    return answer;
  }

  /** Returns the last destination found, which may be stale, or null before the first lookup has ended. */
  known(domain: string): Destination | null {
    return this.#domains.get(domain)?.known ?? null;
  }

  async #lookUp(domain: string): Promise<Destination> {
    const { connector, policyOf, now } = this.#options;
    const [answer, policy, { validateMx }] = await Promise.all([
      connector.resolve(domain),
      policyOf(domain),
      import('mailauth/lib/mta-sts.js'),
    ]);
    const destination: Destination =
      answer.kind === 'hosts'
        ? destinationAt(domain, answer.hosts, policy, validateMx)
        : answer.kind === 'no_mail'
          ? answer
          : { ...answer, by_policy: false };
    const ttl_ms =
      destination.kind === 'site' && answer.kind === 'hosts'
        ? Math.min(Math.max(answer.ttl_seconds * 1000, MIN_TTL_MS), MAX_TTL_MS)
        : FAILED_TTL_MS;
    this.#remember(domain, { answer: Promise.resolve(destination), known: destination, expires_at: now() + ttl_ms });
    return destination;
  }

  #remember(domain: string, looked: DestinationLookup): void {
    this.#domains.delete(domain);
    this.#domains.set(domain, looked);
    const [oldest] = this.#domains.keys();
    if (this.#domains.size > MAX_DOMAINS && oldest !== undefined) this.#domains.delete(oldest);
  }
}

/** Returns the hosts that messages may go to, with notes on the others. */
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
    const error = cleanRemoteText(`Connecting to the mail servers of ${domain} is not allowed: ${notes.join('; ')}`);
    return { kind: 'failed', error, by_policy };
  }
  const provider = providerOf(best.name);
  // The key includes the notes, because they may name the domain, which must not appear in another domain's
  // transcripts.
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
