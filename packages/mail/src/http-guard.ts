import { lookup as systemLookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { createRequire } from 'node:module';
import { isIP, type LookupFunction } from 'node:net';
import type { Agent, Dispatcher } from 'undici';
import { createAddressGuard } from './mx/address-guard.ts';
import { cleanRemoteText } from './reply.ts';

export interface HttpGuardOptions {
  /** Networks that may be reached although they are not public. */
  readonly allow_networks: readonly string[];
  /** Asked instead of the system's name servers, and nobody else; `address` or `address:port`. */
  readonly dns_servers: readonly string[];
  /** For all of a request, from the name to the end of the answer. */
  readonly timeout_ms?: number;
}

export interface HttpPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface HttpAnswer {
  readonly kind: 'answered';
  readonly status: number;
  /** The header as it came. */
  readonly retry_after: string | null;
  /** The beginning of the body, fit for a row and a page. */
  readonly text: string;
}

export type HttpOutcome = HttpAnswer | { readonly kind: 'failed'; readonly error: string };

/** The one way out over HTTP: public addresses only, no redirects, and an end to everything. */
export interface HttpGuard {
  /** Never throws. */
  post(request: HttpPost, signal?: AbortSignal): Promise<HttpOutcome>;
  /**
   * Why the host of a URL may not be reached, as far as that is known now; null where nothing speaks against it. Neither
   * this nor an error of a post names an address that the URL does not: it may be one of a network that strangers
   * should not learn of.
   */
  refusal(url: URL): Promise<string | null>;
  stop(): Promise<void>;
}

const TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5000;
const DNS_TIMEOUT_MS = 2000;
const KEEP_ALIVE_MS = 30_000;
const MOST_PLACES = 1000;
const MAX_HEADER_BYTES = 16 * 1024;
const KEPT_BYTES = 1024;
// What is longer costs less as a new connection than read to its end.
const MOST_READ_BYTES = 64 * 1024;
const CONNECT_TIMEOUT = 'UND_ERR_CONNECT_TIMEOUT';
// Who reads of a certificate that is not trusted does not run this program.
const HINT_OF_NODE = /; if the root CA is installed locally.*$/s;
// RFC 6761 section 6.3: these names mean this machine, whatever a name server says.
const LOCALHOST = /^(?:.+\.)?localhost\.?$/i;

interface Place {
  readonly origin: string;
  readonly path: string;
}

/** Opens a client that keeps its connections; whoever opened it stops it. */
export function createHttpGuard(options: HttpGuardOptions): HttpGuard {
  const timeout_ms = options.timeout_ms ?? TIMEOUT_MS;
  const guard = createAddressGuard(options.allow_networks);
  const resolve = createResolve(options.dns_servers);

  const lookup: LookupFunction = (hostname, { all }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const allowed = addresses.filter((address) => guard(address) === null);
        const [first] = allowed;
        if (first === undefined) {
          callback(new Error(addresses.length > 0 ? leadsInside(hostname) : `${hostname} has no address`), '', 0);
        } else if (all) {
          callback(
            null,
            allowed.map((address) => ({ address, family: isIP(address) })),
          );
        } else callback(null, first, isIP(first));
      },
      (error: unknown) => callback(new Error(`${hostname} could not be resolved: ${codeOf(error)}`), '', 0),
    );
  };
  /** With the first post: the client takes 75 ms to load, and 5 MB from then on. */
  const openAgent = () => {
    const undici: typeof import('undici') = createRequire(import.meta.url)('undici');
    const dial = undici.buildConnector({ lookup, timeout: CONNECT_TIMEOUT_MS, allowH2: false });
    return new undici.Agent({
      connect(given, callback) {
        // No name is looked up for an address.
        const refusal = isIP(bare(given.hostname)) > 0 ? guard(bare(given.hostname)) : null;
        if (refusal !== null) {
          callback(new Error(refusal), null);
          return;
        }
        dial(given, (...answer) => {
          const [error, socket] = answer;
          const reached = error === null ? guard(socket.remoteAddress ?? '') : null;
          if (error !== null) {
            callback(withoutAddress(error, given.hostname), null);
            return;
          }
          if (reached === null) {
            callback(...answer);
            return;
          }
          socket.destroy();
          callback(new Error(leadsInside(given.hostname)), null);
        });
      },
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: timeout_ms,
      bodyTimeout: timeout_ms,
    });
  };
  let agent: Agent | null = null;
  let stopped = false;

  // To listen to the signal for each post would cost more than all of them that are cut.
  const cuts = new WeakMap<AbortSignal, Set<(reason: Error) => void>>();
  const cutsOf = (signal: AbortSignal) => {
    const known = cuts.get(signal);
    if (known) return known;
    const made = new Set<(reason: Error) => void>();
    cuts.set(signal, made);
    const cut_all = () => {
      for (const cut of made) cut(reasonOf(signal));
    };
    signal.addEventListener('abort', cut_all, { once: true });
    return made;
  };
  const places = new Map<string, Place>();
  const placeOf = (url: string) => {
    const known = places.get(url);
    if (known) return known;
    if (places.size >= MOST_PLACES) places.clear();
    const { origin, pathname, search } = new URL(url);
    const place = { origin, path: pathname + search };
    places.set(url, place);
    return place;
  };

  return {
    post({ url, headers, body }, signal) {
      if (stopped) return Promise.resolve({ kind: 'failed', error: 'the client is stopped' });
      const { origin, path } = placeOf(url);
      const running_cuts = signal && cutsOf(signal);
      const { promise, resolve: answer } = Promise.withResolvers<HttpOutcome>();
      const kept: Buffer[] = [];
      let read = 0;
      let head: Pick<HttpAnswer, 'status' | 'retry_after'> | null = null;
      let running: Dispatcher.DispatchController | null = null;
      let cut_by: Error | null = null;
      // An answer counts by its status, so a body that breaks off or does not end only ends its connection.
      const end = (error: unknown) => {
        clearTimeout(timer);
        running_cuts?.delete(cut);
        if (head === null) answer({ kind: 'failed', error: cleanRemoteText(wordsOf(error)) });
        else {
          const text = kept.length === 0 ? '' : cleanRemoteText(Buffer.concat(kept).toString('utf8'));
          answer({ kind: 'answered', status: head.status, retry_after: head.retry_after, text });
        }
      };
      const cut = (reason: Error) => {
        cut_by ??= reason;
        running?.abort(cut_by);
        end(cut_by);
      };
      const timer = setTimeout(() => cut(new Error(`no answer within ${timeout_ms / 1000} seconds`)), timeout_ms);
      running_cuts?.add(cut);
      agent ??= openAgent();
      agent.dispatch(
        { origin, path, method: 'POST', headers, body },
        {
          onRequestStart(controller) {
            running = controller;
            if (cut_by !== null) controller.abort(cut_by);
          },
          onResponseStart(_, status, fields) {
            if (status < 200) return;
            const retry_after = fields['retry-after'];
            head = { status, retry_after: typeof retry_after === 'string' ? retry_after : null };
          },
          onResponseData(_, chunk) {
            if (read < KEPT_BYTES) kept.push(chunk.subarray(0, KEPT_BYTES - read));
            read += chunk.length;
            if (read > MOST_READ_BYTES) cut(new Error('the answer is too long'));
          },
          onResponseEnd: () => end(null),
          onResponseError: (_, error) => end(error),
        },
      );
      if (signal?.aborted) cut(reasonOf(signal));
      return promise;
    },
    async refusal({ hostname }) {
      const host = bare(hostname);
      if (isIP(host) > 0) return guard(host);
      const addresses = await resolve(host).catch(() => []);
      return addresses.some((address) => guard(address) !== null) ? leadsInside(host) : null;
    },
    async stop() {
      stopped = true;
      await agent?.destroy();
    },
  };
}

function createResolve(dns_servers: readonly string[]): (hostname: string) => Promise<string[]> {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 });
  if (dns_servers.length > 0) resolver.setServers(dns_servers);
  return async (hostname) => {
    if (LOCALHOST.test(hostname)) return ['127.0.0.1', '::1'];
    // The system's own lookup knows the names of this machine and its network. It has two threads and no end, so a
    // name that strangers serve must not be able to hold it.
    if (dns_servers.length === 0 && !hostname.includes('.')) return bySystem(hostname);
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = [four, six].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length === 0 && four.status === 'rejected') throw four.reason;
    return found;
  };
}

function bySystem(hostname: string): Promise<string[]> {
  return new Promise((done, fail) => {
    systemLookup(hostname, { all: true }, (error, found) => {
      if (error) fail(error);
      else done(found.map(({ address }) => address));
    });
  });
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error('given up');
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function leadsInside(hostname: string): string {
  return `${bare(hostname)} resolves to an address that is not public`;
}

/** Errors of connections name the address; those of certificates are told as they are. */
function withoutAddress(error: Error, hostname: string): Error {
  const first = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  const dialled = first instanceof Error && 'syscall' in first && first.syscall === 'connect';
  const code = codeOf(first);
  if (!dialled && code !== CONNECT_TIMEOUT) return error;
  const why = code === CONNECT_TIMEOUT ? `no connection within ${CONNECT_TIMEOUT_MS / 1000} seconds` : code;
  return new Error(`${bare(hostname)} could not be connected to: ${why}`);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

/** What went wrong, in the words of the innermost cause that has some. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return wordsOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  return error.message.replace(HINT_OF_NODE, '') || codeOf(error);
}
