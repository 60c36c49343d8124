import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Config, type Log, listenNear } from '@postrider/core';

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The handlers that the listener serves. Null means that the role does not run in this process. */
export interface Mounts {
  readonly health: Handler;
  readonly metrics: Handler;
  readonly rest: Handler | null;
  /** Receives the feedback of relays. */
  readonly feedback: Handler | null;
  /** The API for Resend clients, or null if it is disabled. */
  readonly resend: Handler | null;
  readonly admin: Handler | null;
  /** Creates a handler for a part of the service that the given environment variable disables in this process. */
  absent(part: string, variable: string): Handler;
  /** Responds to input that could not be parsed as a request. */
  readonly malformed: ((fault: Error, socket: Duplex) => Promise<void>) | null;
}

export interface HttpServer {
  readonly port: number;
  /** Starts responding to requests, including those that have arrived since the port was bound. */
  serve(mounts: Mounts): void;
  stop(): Promise<void>;
}

const STOP_MS = 2500;
// One year, for this host only: its subdomains are not ours.
const HSTS = 'max-age=31536000';

/** Binds the process's port before its services exist, because their public URL contains it. */
export async function bindHttpServer(config: Config, log: Log): Promise<HttpServer> {
  const server = createServer({
    headersTimeout: 10_000,
    requestTimeout: 120_000,
    keepAliveTimeout: 65_000,
    maxHeaderSize: 16_384,
    // Node's own rejection has neither a body nor our headers, and nothing here depends on Host.
    requireHostHeader: false,
    connectionsCheckingInterval: 2000,
  });
  server.maxConnections = 1000;
  const requests = new MountedRequests(log, config.PUBLIC_URL?.startsWith('https:') ?? false);
  server.on('request', (request, response) => requests.answer(request, response));
  server.on('clientError', (fault: Error, socket: Duplex) => requests.refuse(fault, socket));
  // Node would reject an unknown Expect with a 417 and no body. Here, the header is ignored.
  server.on('checkExpectation', (request, response) => requests.answer(request, response));
  const { port } = await listenNear(config, 'PORT', (port_number) => listen(server, config.HOST, port_number));
  return {
    port,
    serve: (mounts) => requests.mount(mounts),
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      requests.closeAfterAnswer();
      server.closeIdleConnections();
      // A request that does not finish, such as a slow upload, does not delay shutdown. A request waiting for a startup
      // that failed gets no response at all.
      const cut = setTimeout(() => server.closeAllConnections(), requests.mounted ? STOP_MS : 0);
      await closed;
      clearTimeout(cut);
    },
  };
}

/** Routes requests to their mount and tracks requests in flight. */
class MountedRequests {
  readonly #log: Log;
  readonly #open = new Set<ServerResponse>();
  readonly #early: (() => void)[] = [];
  readonly #forget: (this: ServerResponse) => void;
  readonly #https: boolean;
  #mounts: Mounts | null = null;

  constructor(log: Log, https: boolean) {
    this.#log = log;
    this.#https = https;
    const open = this.#open;
    // One listener for all responses, instead of a closure for each.
    this.#forget = function forget() {
      open.delete(this);
    };
  }

  get mounted(): boolean {
    return this.#mounts !== null;
  }

  mount(mounts: Mounts): void {
    this.#mounts = mounts;
    for (const response of this.#early.splice(0)) response();
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const mounts = this.#mounts;
    if (mounts === null) {
      this.#early.push(() => this.answer(request, response));
      return;
    }
    request.url = originForm(request.url ?? '/');
    this.#open.add(response);
    response.on('close', this.#forget);
    if (this.#https) response.setHeader('Strict-Transport-Security', HSTS);
    mountFor(mounts, request)(request, response).catch((error) => {
      this.#log.error({ err: error }, 'a request ended without a response');
      response.destroy();
    });
  }

  refuse(fault: Error, socket: Duplex): void {
    // The connection may already be closed.
    if (!socket.writable) return;
    const refuse = this.#mounts?.malformed ?? refusePlainly;
    refuse(fault, socket).catch((error) => {
      this.#log.error({ err: error }, 'a malformed request ended without a response');
      socket.destroy();
    });
  }

  /** Signals in each response that the client must not reuse the connection. */
  closeAfterAnswer(): void {
    for (const response of this.#open) if (!response.headersSent) response.setHeader('connection', 'close');
  }
}

function mountFor(mounts: Mounts, request: IncomingMessage): Handler {
  const path = request.url?.split('?', 1)[0] ?? '/';
  if (path === '/healthz' || path === '/readyz') return mounts.health;
  // The dashboard has a page of this name; only browsers accept HTML.
  if (path === '/metrics' && !(mounts.admin && request.headers.accept?.includes('text/html'))) return mounts.metrics;
  if (path === '/v1' || path.startsWith('/v1/')) return mounts.rest ?? mounts.absent('The REST role', 'ROLES');
  if (path.startsWith('/feedback/')) return mounts.feedback ?? mounts.absent('The REST role', 'ROLES');
  if (path.startsWith('/resend/') && mounts.rest)
    return mounts.resend ?? mounts.absent('The Resend-compatible API', 'RESEND_API');
  return mounts.admin ?? mounts.absent('The admin role', 'ROLES');
}

export function writeJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}

function listen(server: Server, host: string, port: number): Promise<{ readonly port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve(server.address() as AddressInfo);
    });
  });
}

/**
 * Returns the path of a request target. Proxies may send an absolute URL, which RFC 9112 section 3.2.2 requires servers
 * to accept.
 */
function originForm(target: string): string {
  const absolute = /^https?:\/\/[^/?]*(.*)$/i.exec(target);
  if (!absolute) return target;
  const rest = absolute[1] ?? '';
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * Rejects malformed input in a process without the REST role. No address is counted, but the response is still JSON.
 */
async function refusePlainly(_error: Error, socket: Duplex): Promise<void> {
  if (!socket.writable) return;
  const error = { code: 'invalid_request', reason: 'malformed_request', message: 'The request is not valid HTTP.' };
  const body = JSON.stringify({ error });
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
