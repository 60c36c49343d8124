import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { MxConnector } from './connector.ts';

/** The policy that a domain publishes for the servers that accept its mail (RFC 8461). */
export interface StsPolicy {
  readonly mode: 'enforce' | 'testing' | 'none';
  /** Host names, or `*.` followed by a domain, which matches one more label. */
  readonly mx: readonly string[];
}

export interface StsPolicies {
  /** Returns the policy in force, or null. Rejects only if the store does, in which case the policy is unknown. */
  policyOf(domain: string): Promise<StsPolicy | null>;
}

/** A policy as fetched. */
export interface FetchedPolicy extends StsPolicy {
  readonly id: string;
  /** How long the policy is valid. */
  readonly max_age_seconds: number;
}

/** Stores policies beyond the life of the process, so that removing a record from DNS does not remove the policy. */
export interface StsPolicyStore {
  /**
   * Returns the policy in force with its remaining time, or null if there is none. Rejects if the policy is unknown.
   */
  read(domain: string): Promise<FetchedPolicy | null>;
  /** Stores a policy. Never rejects. */
  write(domain: string, policy: FetchedPolicy): Promise<void>;
}

interface KnownPolicy {
  readonly id: string;
  readonly policy: StsPolicy;
  readonly expires_at: number;
}

const HTTPS_PORT = 443;
const FETCH_MS = 10_000;
const MAX_POLICY = 64 * 1024;
const MAX_DOMAINS = 10_000;
// While the policy host is down, messages are sent without a policy and must not wait for the host each time.
const FAILED_FOR_MS = 5 * 60_000;
// RFC 8461 section 3.2: about a year.
const MAX_SECONDS = 31_557_600;

/** Fetches policies and caches them for their own lifetime, both in memory and in the store if there is one. */
export function createStsPolicies(
  connector: MxConnector,
  options: {
    readonly now: () => number;
    readonly port?: number | undefined;
    readonly store?: StsPolicyStore | undefined;
  },
): StsPolicies {
  const known = new Map<string, KnownPolicy>();
  /** Policies that could not be fetched: their ids, and the times until which they are not retried. */
  const failed = new Map<string, { readonly id: string; readonly until: number }>();

  async function policyOf(domain: string): Promise<StsPolicy | null> {
    const id = await idOf(domain);
    const policy_in_force = inForce(domain);
    if (policy_in_force && id === policy_in_force.id) return policy_in_force.policy;
    const valid = await alsoStored(domain, id);
    // RFC 8461 section 3.3: a policy in force outlives its record and its host. Otherwise, blocking the record or the
    // host would bypass the policy.
    if (valid && (id === null || id === valid.id)) return valid.policy;
    if (id === null) return null;
    const failure = failed.get(domain);
    if (failure?.id === id && failure.until > options.now()) return fallbackPolicy(valid);
    try {
      const { parsePolicy } = await import('mailauth/lib/mta-sts.js');
      const { mode, mx, maxAge } = parsePolicy(await fetchPolicy(domain));
      if (mode !== 'enforce' && mode !== 'testing' && mode !== 'none') throw new Error(`The mode is ${mode}.`);
      const policy: StsPolicy = { mode, mx: (mx ?? []).map((host) => host.toLowerCase().replace(/\.$/, '')) };
      const max_age_seconds = Math.min(maxAge ?? 0, MAX_SECONDS);
      remember(known, domain, { id, policy, expires_at: options.now() + max_age_seconds * 1000 });
      failed.delete(domain);
      await options.store?.write(domain, { id, ...policy, max_age_seconds });
      return policy;
    } catch {
      remember(failed, domain, { id, until: options.now() + FAILED_FOR_MS });
      return fallbackPolicy(await alsoStored(domain, id));
    }
  }

  function inForce(domain: string): KnownPolicy | null {
    const policy = known.get(domain);
    return policy && policy.expires_at > options.now() ? policy : null;
  }

  /**
   * Returns the policy in force according to this process or the store. The store is read whenever the record does not
   * confirm the cached policy, because another process may have fetched a newer policy. The transport caches each
   * result.
   */
  async function alsoStored(domain: string, id: string | null): Promise<KnownPolicy | null> {
    if (!options.store) return inForce(domain);
    let policy: FetchedPolicy | null;
    try {
      policy = await options.store.read(domain);
    } catch (error) {
      const policy_in_force = inForce(domain);
      if (policy_in_force) return policy_in_force;
      throw error;
    }
    const policy_in_force = inForce(domain);
    if (!policy || policy_in_force?.id === policy.id) return policy_in_force;
    // If the record does not decide between two policies, the stricter one is kept.
    if (policy_in_force && (policy_in_force.id === id || (policy.id !== id && policy.mode !== 'enforce')))
      return policy_in_force;
    const { mode, mx, max_age_seconds } = policy;
    const stored = { id: policy.id, policy: { mode, mx }, expires_at: options.now() + max_age_seconds * 1000 };
    remember(known, domain, stored);
    return stored;
  }

  async function idOf(domain: string): Promise<string | null> {
    // The import is outside the try, because without this module the policy in force is unknown.
    const { resolvePolicy } = await import('mailauth/lib/mta-sts.js');
    try {
      return (
        (await resolvePolicy(domain, { resolver: async (name: string) => [...(await connector.resolveTxt(name))] })) ||
        null
      );
    } catch {
      return null;
    }
  }

  /** Fetches over a guarded socket, from a host whose certificate is also checked. */
  async function fetchPolicy(domain: string): Promise<string> {
    const host = `mta-sts.${domain}`;
    const signal = AbortSignal.timeout(FETCH_MS);
    let error = `${host} has no address that may be connected to`;
    for (const address of await connector.resolveAddresses(host)) {
      const dialled = await connector.dial(address, options.port ?? HTTPS_PORT, signal);
      if (dialled.ok) return await readPolicy(dialled.socket, host, signal);
      error = dialled.error;
    }
    throw new Error(error);
  }

  return { policyOf };
}

/**
 * Returns the policy to apply while the newest policy cannot be fetched: the policy in force, or null if its mode is
 * none.
 */
function fallbackPolicy(valid: KnownPolicy | null): StsPolicy | null {
  return valid && valid.policy.mode !== 'none' ? valid.policy : null;
}

function remember<Entry>(entries: Map<string, Entry>, domain: string, entry: Entry): void {
  entries.delete(domain);
  entries.set(domain, entry);
  const [oldest] = entries.keys();
  if (entries.size > MAX_DOMAINS && oldest !== undefined) entries.delete(oldest);
}

async function readPolicy(plain: Socket, host: string, signal: AbortSignal): Promise<string> {
  const socket = connectTls({ socket: plain, servername: host, ALPNProtocols: ['http/1.1'] });
  try {
    await once(socket, 'secureConnect', { signal });
    const client_request = request({
      createConnection: () => socket,
      path: '/.well-known/mta-sts.txt',
      headers: { host, connection: 'close' },
      signal,
    });
    client_request.end();
    const [answer] = (await once(client_request, 'response', { signal })) as [IncomingMessage];
    const type = answer.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
    // Redirects are an error according to RFC 8461 section 3.3.
    if (answer.statusCode !== 200 || type !== 'text/plain') throw new Error(`${host} serves no policy`);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of answer) {
      size += chunk.length;
      if (size > MAX_POLICY) throw new Error(`${host} serves more than ${MAX_POLICY} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString();
  } finally {
    socket.destroy();
    plain.destroy();
  }
}
