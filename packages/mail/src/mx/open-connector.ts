import { Resolver } from 'node:dns/promises';
import { connect } from 'node:net';
import { type AddressGuard, cleanRemoteText, createAddressGuard } from '@postrider/net';
import type { Delivery } from 'mx-connect';
import type { DialResult } from '../smtp/route.ts';
import type { MxAnswer, MxConnector, MxHost } from './connector.ts';

export interface ConnectorOptions {
  /** Name servers to use instead of the system's, as `address` or `address:port`. */
  readonly dns_servers: readonly string[];
  readonly dns_timeout_ms?: number | undefined;
  readonly dial_timeout_ms?: number | undefined;
  readonly allow_networks: readonly string[];
}

const DNS_TIMEOUT_MS = 3000;
const DNS_TRIES = 2;
const DIAL_TIMEOUT_MS = 10_000;
const MAX_CNAMES = 10;
// Each host costs two queries, and no real domain has this many hosts.
const MAX_HOSTS = 20;
const MAX_TTL_SECONDS = 86_400;

/**
 * Creates a connector. mx-connect resolves and ranks the hosts; the connector decides which addresses may be connected
 * to.
 */
export function openConnector(options: ConnectorOptions): MxConnector {
  const resolver = new Resolver({ timeout: options.dns_timeout_ms ?? DNS_TIMEOUT_MS, tries: DNS_TRIES });
  if (options.dns_servers.length > 0) resolver.setServers(options.dns_servers);
  const guard = createAddressGuard(options.allow_networks);
  const second = secondOpinion(resolver, options);
  const dial_timeout_ms = options.dial_timeout_ms ?? DIAL_TIMEOUT_MS;

  async function resolveTxt(name: string): Promise<string[]> {
    return (await resolver.resolveTxt(name)).map((strings) => strings.join(''));
  }

  async function resolveAddresses(name: string): Promise<string[]> {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    return answers
      .flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
      .filter((address) => guard(address) === null);
  }

  return {
    async resolve(domain) {
      const answer = await resolveMx(resolver, guard, domain);
      // A single name server that has lost a zone must not speak for all of DNS.
      if (answer.kind !== 'no_mail' || answer.declared || !second) return answer;
      return resolveMx(second, guard, domain);
    },
    resolveTxt,
    resolveAddresses,
    dial: (address, port, signal) => dialGuarded(guard, dial_timeout_ms, { address, port, signal }),
    stop() {
      resolver.cancel();
      second?.cancel();
    },
  };
}

/** Returns a resolver with the same servers in another order, or null if there is only one server. */
function secondOpinion(resolver: Resolver, { dns_timeout_ms }: ConnectorOptions): Resolver | null {
  const [first, ...others] = resolver.getServers();
  if (first === undefined || others.length === 0) return null;
  const second = new Resolver({ timeout: dns_timeout_ms ?? DNS_TIMEOUT_MS, tries: DNS_TRIES });
  second.setServers([...others, first]);
  return second;
}

/** Returns the hosts of a domain, or the reason why it has no hosts. */
async function resolveMx(resolver: Resolver, guard: AddressGuard, domain: string): Promise<MxAnswer> {
  // mx-connect is loaded with the first message, because it takes 3 MB and DELIVERY need not be mx.
  const { default: mxConnect } = await import('mx-connect');
  const lookups = new Map<string, string>();
  let ttl_seconds = MAX_TTL_SECONDS;
  const resolved: { delivery: Delivery | null } = { delivery: null };
  const addressesOf = (records: readonly { readonly address: string; readonly ttl: number }[]) => {
    ttl_seconds = Math.min(ttl_seconds, ...records.map((record) => record.ttl));
    return records.map((record) => record.address);
  };
  const ask = async (name: string, type: string) => {
    if (type === 'A') return addressesOf(await resolver.resolve4(name, { ttl: true }));
    if (type === 'AAAA') return addressesOf(await resolver.resolve6(name, { ttl: true }));
    const records = await resolver.resolveMx(name);
    return records.toSorted((one, other) => one.priority - other.priority).slice(0, MAX_HOSTS);
  };
  try {
    await mxConnect({
      target: domain,
      dnsOptions: {
        async resolveRecords(name, type) {
          try {
            const records = await ask(name, type);
            lookups.set(`${type} ${name}`, 'found');
            return records;
          } catch (error) {
            lookups.set(`${type} ${name}`, codeOf(error));
            throw error;
          }
        },
      },
      // Everything is resolved when the hook is called, and a failing hook stops mx-connect before it opens a socket.
      connectHook(known, _target, done) {
        resolved.delivery = known;
        done(new Error('resolved'));
      },
    });
  } catch (error) {
    if (resolved.delivery === null) return await judgeFailure(resolver, domain, error, lookups);
  }
  if (resolved.delivery === null) return { kind: 'failed', error: `The mail servers of ${domain} are not known.` };
  return { kind: 'hosts', hosts: hostsOf(resolved.delivery, guard), ttl_seconds };
}

function hostsOf({ mx, blockedAddresses }: Delivery, guard: AddressGuard): MxHost[] {
  return mx.map((entry) => {
    const verdicts = [...entry.A, ...entry.AAAA].map((address) => ({ address, refusal: guard(address) }));
    const matching = blockedAddresses.filter((blocked) => blocked.exchange === entry.exchange);
    return {
      name: entry.exchange.toLowerCase().replace(/\.$/, ''),
      preference: entry.priority,
      addresses: verdicts.filter(({ refusal }) => refusal === null).map(({ address }) => address),
      refused: [
        ...verdicts.flatMap(({ refusal }) => refusal ?? []),
        ...matching.map(({ ip }) => `${ip} is not an address of a server`),
      ],
    };
  });
}

/** Determines why no host was found: the domain has no hosts, or DNS did not respond. */
async function judgeFailure(
  resolver: Resolver,
  domain: string,
  error: unknown,
  lookups: ReadonlyMap<string, string>,
): Promise<MxAnswer> {
  const code = codeOf(error);
  if (code === 'ENULLMX') {
    const text = `${domain} does not accept email: it publishes a null MX record.`;
    return { kind: 'no_mail', reply: { code: 556, enhanced: '5.1.10', text }, declared: true };
  }
  if (code !== 'ENOTFOUND' && code !== 'ENODATA') {
    return { kind: 'failed', error: cleanRemoteText(`DNS lookup failed for ${domain}: ${textOf(error)}`) };
  }
  // Some name servers respond to an alias loop with the aliases and no data, which looks like an empty name.
  for (const name of new Set([...lookups.keys()].map((question) => question.slice(question.indexOf(' ') + 1)))) {
    const trouble = await aliasTrouble(resolver, name);
    if (trouble) return { kind: 'failed', error: cleanRemoteText(trouble) };
  }
  if (lookups.get(`MX ${domain}`) === 'found') {
    const text = `${domain} has no mail server: no host of its MX records has an address.`;
    return { kind: 'no_mail', reply: { code: 550, enhanced: '5.4.4', text }, declared: false };
  }
  const exists = lookups.get(`MX ${domain}`) !== 'ENOTFOUND';
  const text = exists ? `${domain} has no mail server: no MX, A or AAAA record.` : `${domain} does not exist in DNS.`;
  return { kind: 'no_mail', reply: { code: 550, enhanced: '5.1.2', text }, declared: false };
}

/** Returns the problem with the alias chain of a name, or null if the chain ends. */
async function aliasTrouble(resolver: Resolver, from: string): Promise<string | null> {
  const path = [from.toLowerCase()];
  while (path.length <= MAX_CNAMES) {
    let next: string | undefined;
    try {
      [next] = await resolver.resolveCname(path.at(-1) ?? from);
    } catch (error) {
      const code = codeOf(error);
      return code === 'ENOTFOUND' || code === 'ENODATA' ? null : `DNS lookup failed for ${from}: ${textOf(error)}`;
    }
    if (next === undefined) return null;
    const is_loop = path.includes(next.toLowerCase());
    path.push(next.toLowerCase());
    if (is_loop) return `DNS leads in a circle: ${path.join(' → ')}`;
  }
  return `DNS has more than ${MAX_CNAMES} aliases behind ${from}`;
}

/** Opens a socket to an address that the guard allows, and checks it again once connected. */
function dialGuarded(
  guard: AddressGuard,
  timeout_ms: number,
  { address, port, signal }: { readonly address: string; readonly port: number; readonly signal: AbortSignal },
): Promise<DialResult> {
  const refusal = guard(address);
  if (refusal !== null) return Promise.resolve({ ok: false, error: refusal });
  if (signal.aborted) return Promise.resolve({ ok: false, error: 'The attempt was aborted.' });
  return new Promise((resolve) => {
    const socket = connect({ host: address, port });
    const settle = (result: DialResult) => {
      clearTimeout(deadline);
      signal.removeEventListener('abort', onAbort);
      if (!result.ok) socket.destroy();
      resolve(result);
    };
    const onAbort = () => settle({ ok: false, error: 'The attempt was aborted.' });
    const deadline = setTimeout(() => settle({ ok: false, error: `no connection in ${timeout_ms} ms` }), timeout_ms);
    signal.addEventListener('abort', onAbort, { once: true });
    // This listener is never removed: an error before the session's first listener must not crash the process.
    socket.on('error', (error) => settle({ ok: false, error: cleanRemoteText(error.message) }));
    socket.once('connect', () => {
      const reached = socket.remoteAddress;
      const reason = reached === undefined ? 'the connection was closed immediately' : guard(reached);
      settle(reason === null ? { ok: true, socket } : { ok: false, error: reason });
    });
  });
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
