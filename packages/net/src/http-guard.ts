import { lookup as systemLookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { createRequire } from 'node:module';
import { isIP, type LookupFunction } from 'node:net';
import type { Agent, buildConnector, Dispatcher } from 'undici';
import { type AddressGuard, createAddressGuard } from './address-guard.ts';
import { cleanRemoteText } from './remote-text.ts';

export interface HttpGuardOptions {
  /** Networks that may be reached even though they are not public. */
  readonly allow_networks: readonly string[];
  /** Name servers to use instead of the system's, as `address` or `address:port`. */
  readonly dns_servers: readonly string[];
  /** The limit for the whole request, from name resolution to the end of the response. */
  readonly timeout_ms?: number;
}

export interface HttpPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface HttpResponse {
  readonly kind: 'answered';
  readonly status: number;
  /** The Retry-After header as received. */
  readonly retry_after: string | null;
  /** The headers as received from the endpoint. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The beginning of the body, safe to store and display. */
  readonly text: string;
}

interface HttpFailure {
  readonly kind: 'failed';
  readonly error: string;
}

export type HttpOutcome = HttpResponse | HttpFailure;

export type HttpDocument = { readonly kind: 'answered'; readonly status: number; readonly body: Buffer } | HttpFailure;

/** The only HTTP client for user-supplied URLs: public addresses only, no redirects, and limits on time and size. */
export interface HttpGuard {
  /** Sends a POST request. Never throws. */
  post(request: HttpPost, signal?: AbortSignal): Promise<HttpOutcome>;
  /** Gets a document of at most 64 KiB. Never throws. */
  get(url: string): Promise<HttpDocument>;
  /**
   * Returns the reason why the host of a URL is currently rejected, or null if it is not. Neither the reason nor the
   * error of a post names an address that the URL does not contain, because the address could reveal a private network.
   */
  refusal(url: URL): Promise<string | null>;
  stop(): Promise<void>;
}

const TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5000;
const DNS_TIMEOUT_MS = 2000;
const KEEP_ALIVE_MS = 30_000;
const MAX_PLACES = 1000;
const MAX_HEADER_BYTES = 16 * 1024;
const KEPT_BYTES = 1024;
// For a longer body, a new connection costs less than reading it to the end.
const MAX_READ_BYTES = 64 * 1024;
const CONNECT_TIMEOUT = 'UND_ERR_CONNECT_TIMEOUT';
// This hint is for the operator, but users see the error.
const NODE_HINT = /; if the root CA is installed locally.*$/s;
// RFC 6761 section 6.3: these names refer to this machine, whatever a name server says.
const LOCALHOST = /^(?:.+\.)?localhost\.?$/i;

interface Place {
  readonly origin: string;
  readonly path: string;
}

type Resolve = (hostname: string) => Promise<string[]>;
type Cut = (reason: Error) => void;
type ResponseFields = Readonly<Record<string, string | string[] | undefined>>;

/** Creates a client that keeps its connections open until it is stopped. */
export function createHttpGuard(options: HttpGuardOptions): HttpGuard {
  const client = new GuardedClient(options);
  return {
    post: (request, signal) => client.post(request, signal),
    get: (url) => client.get(url),
    refusal: (url) => client.refusal(url),
    stop: () => client.stop(),
  };
}

class GuardedClient {
  readonly #timeout_ms: number;
  readonly #guard: AddressGuard;
  readonly #resolve: Resolve;
  /** A cache of parsed URLs. */
  readonly #places = new Map<string, Place>();
  /**
   * Requests in progress, by signal. The requests of a signal share one listener, because adding and removing a listener for
   * each post is expensive.
   */
  readonly #cuts = new WeakMap<AbortSignal, Set<Cut>>();
  #agent: Agent | null = null;
  #stopped = false;

  constructor(options: HttpGuardOptions) {
    this.#timeout_ms = options.timeout_ms ?? TIMEOUT_MS;
    this.#guard = createAddressGuard(options.allow_networks);
    this.#resolve = createResolve(options.dns_servers);
  }

  post({ url, headers, body }: HttpPost, signal?: AbortSignal): Promise<HttpOutcome> {
    if (this.#stopped) return Promise.resolve({ kind: 'failed', error: 'the client is stopped' });
    const { origin, path } = this.#placeOf(url);
    const running = new RunningRequest(this.#timeout_ms, KEPT_BYTES, signal && this.#cutsOf(signal));
    this.#agent ??= this.#openAgent();
    this.#agent.dispatch({ origin, path, method: 'POST', headers, body }, running);
    if (signal?.aborted) running.cut(reasonOf(signal));
    return running.outcome.then(withText);
  }

  async get(url: string): Promise<HttpDocument> {
    if (this.#stopped) return { kind: 'failed', error: 'the client is stopped' };
    const { origin, path } = this.#placeOf(url);
    const running = new RunningRequest(this.#timeout_ms, MAX_READ_BYTES);
    this.#agent ??= this.#openAgent();
    this.#agent.dispatch({ origin, path, method: 'GET' }, running);
    const outcome = await running.outcome;
    if (outcome.kind === 'failed') return outcome;
    const { head, body, error } = outcome;
    // Unlike the response to a post, a document is of use only as a whole.
    if (error !== null) return { kind: 'failed', error };
    return { kind: 'answered', status: head.status, body };
  }

  async refusal({ hostname }: URL): Promise<string | null> {
    const host = bare(hostname);
    if (isIP(host) > 0) return this.#guard(host);
    const addresses = await this.#resolve(host).catch(() => []);
    return addresses.some((address) => this.#guard(address) !== null) ? leadsInside(host) : null;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#agent?.destroy();
  }

  /** Opens the agent with the first post: the client takes 75 ms to load, and 5 MB from then on. */
  #openAgent(): Agent {
    const undici: typeof import('undici') = createRequire(import.meta.url)('undici');
    const lookup = createLookup(this.#resolve, this.#guard);
    const dial = undici.buildConnector({ lookup, timeout: CONNECT_TIMEOUT_MS, allowH2: false });
    return new undici.Agent({
      connect: createConnect(dial, this.#guard),
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: this.#timeout_ms,
      bodyTimeout: this.#timeout_ms,
    });
  }

  #cutsOf(signal: AbortSignal): Set<Cut> {
    const known = this.#cuts.get(signal);
    if (known) return known;
    const cuts = new Set<Cut>();
    this.#cuts.set(signal, cuts);
    const cut_all = () => {
      for (const cut of cuts) cut(reasonOf(signal));
    };
    signal.addEventListener('abort', cut_all, { once: true });
    return cuts;
  }

  #placeOf(url: string): Place {
    const known = this.#places.get(url);
    if (known) return known;
    if (this.#places.size >= MAX_PLACES) this.#places.clear();
    const { origin, pathname, search } = new URL(url);
    const place = { origin, path: pathname + search };
    this.#places.set(url, place);
    return place;
  }
}

type ResponseHead = Pick<HttpResponse, 'status' | 'retry_after' | 'headers'>;

interface ReceivedResponse {
  readonly kind: 'answered';
  readonly head: ResponseHead;
  /** The beginning of the body. */
  readonly body: Buffer;
  /** Why the body broke off; null if it did not. */
  readonly error: string | null;
}

/** One request, from its dispatch to its outcome, with a single timer. */
class RunningRequest implements Dispatcher.DispatchHandler {
  readonly outcome: Promise<ReceivedResponse | HttpFailure>;
  /** Aborts the request for a reason of our own. The caller's signal also calls this. */
  readonly cut: Cut;
  readonly #answer: (outcome: ReceivedResponse | HttpFailure) => void;
  readonly #cuts: Set<Cut> | undefined;
  readonly #timer: NodeJS.Timeout;
  /** The beginning of the body. */
  readonly #kept: Buffer[] = [];
  #read = 0;
  #head: ResponseHead | null = null;
  readonly #kept_bytes: number;
  #controller: Dispatcher.DispatchController | null = null;
  #cut_by: Error | null = null;

  constructor(timeout_ms: number, kept_bytes: number, cuts?: Set<Cut>) {
    const { promise, resolve } = Promise.withResolvers<ReceivedResponse | HttpFailure>();
    this.#kept_bytes = kept_bytes;
    this.outcome = promise;
    this.#answer = resolve;
    this.cut = (reason) => {
      this.#cut_by ??= reason;
      this.#controller?.abort(this.#cut_by);
      this.#end(this.#cut_by);
    };
    this.#timer = setTimeout(() => this.cut(new Error(`no response within ${timeout_ms / 1000} seconds`)), timeout_ms);
    this.#cuts = cuts;
    cuts?.add(this.cut);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#cut_by !== null) controller.abort(this.#cut_by);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, fields: ResponseFields): void {
    if (status < 200) return;
    const retry_after = fields['retry-after'];
    this.#head = { status, retry_after: typeof retry_after === 'string' ? retry_after : null, headers: fields };
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#read < this.#kept_bytes) this.#kept.push(chunk.subarray(0, this.#kept_bytes - this.#read));
    this.#read += chunk.length;
    if (this.#read > MAX_READ_BYTES) this.cut(new Error('the response is too long'));
  }

  onResponseEnd(): void {
    this.#end(null);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#end(error);
  }

  #end(error: unknown): void {
    clearTimeout(this.#timer);
    this.#cuts?.delete(this.cut);
    const reason = error === null ? null : cleanRemoteText(wordsOf(error));
    if (this.#head === null) this.#answer({ kind: 'failed', error: reason ?? 'no response' });
    else this.#answer({ kind: 'answered', head: this.#head, body: Buffer.concat(this.#kept), error: reason });
  }
}

/** The status determines the outcome of a post, so a body that breaks off or does not end only closes its connection. */
function withText(outcome: ReceivedResponse | HttpFailure): HttpOutcome {
  if (outcome.kind === 'failed') return outcome;
  return { kind: 'answered', ...outcome.head, text: cleanRemoteText(outcome.body.toString('utf8')) };
}

/** Creates a lookup for sockets that resolves a name to the addresses that the guard allows. */
function createLookup(resolve: Resolve, guard: AddressGuard): LookupFunction {
  return (hostname, { all }, callback) => {
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
}

/** Creates a connector that dials, and checks the address again on the resulting socket. */
function createConnect(dial: buildConnector.connector, guard: AddressGuard): buildConnector.connector {
  return (options, callback) => {
    // An address in the URL is not looked up, so it is checked here.
    const refusal = isIP(bare(options.hostname)) > 0 ? guard(bare(options.hostname)) : null;
    if (refusal !== null) {
      callback(new Error(refusal), null);
      return;
    }
    dial(options, (...response) => {
      const [error, socket] = response;
      if (error !== null) {
        callback(withoutAddress(error, options.hostname), null);
        return;
      }
      if (guard(socket.remoteAddress ?? '') === null) {
        callback(...response);
        return;
      }
      socket.destroy();
      callback(new Error(leadsInside(options.hostname)), null);
    });
  };
}

function createResolve(dns_servers: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 });
  if (dns_servers.length > 0) resolver.setServers(dns_servers);
  return async (hostname) => {
    if (LOCALHOST.test(hostname)) return ['127.0.0.1', '::1'];
    // The system's own lookup knows the names of this machine and its network. It has two threads and no time limit, so
    // a name served by an untrusted server must not block it.
    if (dns_servers.length === 0 && !hostname.includes('.')) return bySystem(hostname);
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = [four, six].flatMap((response) => (response.status === 'fulfilled' ? response.value : []));
    if (addresses.length === 0 && four.status === 'rejected') throw four.reason;
    return addresses;
  };
}

function bySystem(hostname: string): Promise<string[]> {
  return new Promise((done, fail) => {
    systemLookup(hostname, { all: true }, (error, addresses) => {
      if (error) fail(error);
      else done(addresses.map(({ address }) => address));
    });
  });
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error('aborted');
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function leadsInside(hostname: string): string {
  return `${bare(hostname)} resolves to an address that is not public`;
}

/** Rewords connection errors, because they contain the address. Certificate errors stay unchanged. */
function withoutAddress(error: Error, hostname: string): Error {
  const first = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  const dialled = first instanceof Error && 'syscall' in first && first.syscall === 'connect';
  const code = codeOf(first);
  if (!dialled && code !== CONNECT_TIMEOUT) return error;
  const reason = code === CONNECT_TIMEOUT ? `no connection within ${CONNECT_TIMEOUT_MS / 1000} seconds` : code;
  return new Error(`could not connect to ${bare(hostname)}: ${reason}`);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

/** Returns the message of the innermost cause that has a message. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return wordsOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  return error.message.replace(NODE_HINT, '') || codeOf(error);
}
