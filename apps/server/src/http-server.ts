import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Log, usualPorts } from '@postrider/core';

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** What the one listener serves; a face whose role does not run here is absent. */
export interface Mounts {
  readonly health: Handler;
  readonly rest: Handler | null;
  readonly admin: Handler | null;
  /** Answers what could not be read as a request. */
  readonly malformed: ((fault: Error, socket: Duplex) => Promise<void>) | null;
}

export interface HttpServer {
  readonly port: number;
  stop(): Promise<void>;
}

const PORTS_TRIED = 100;
const STOP_MS = 2500;

/** Opens the process's one listener. A default port that is busy yields to the next; a port that was set does not. */
export async function startHttpServer(
  host: string,
  wanted: number | undefined,
  mounts: Mounts,
  log: Log,
): Promise<HttpServer> {
  const open = new Set<ServerResponse>();
  // One listener for all responses, instead of a closure for each.
  function forget(this: ServerResponse) {
    open.delete(this);
  }
  const server = createServer(
    {
      headersTimeout: 10_000,
      requestTimeout: 120_000,
      keepAliveTimeout: 65_000,
      maxHeaderSize: 16_384,
      // Node's own refusals have neither a body nor our headers; nothing here depends on the name.
      requireHostHeader: false,
      connectionsCheckingInterval: 2000,
    },
    (request, response) => {
      request.url = originForm(request.url ?? '/');
      open.add(response);
      response.on('close', forget);
      mountFor(mounts, request.url)(request, response).catch((error) => {
        log.error({ err: error }, 'a request ended without an answer');
        response.destroy();
      });
    },
  );
  server.maxConnections = 1000;
  const refuse = mounts.malformed ?? refusePlainly;
  server.on('clientError', (fault: Error, socket: Duplex) => {
    // Where the connection is gone there is nobody to tell.
    if (!socket.writable) return;
    refuse(fault, socket).catch((error) => {
      log.error({ err: error }, 'a malformed request ended without an answer');
      socket.destroy();
    });
  });
  // Likewise for an Expect that Node does not know: the request is answered as if it were not there.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  await listen(server, host, wanted);
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      // A client is told with its answer not to send the next request on this connection.
      for (const response of open) if (!response.headersSent) response.setHeader('connection', 'close');
      server.closeIdleConnections();
      // A request that does not end, such as a slow upload, does not hold up the stop.
      const impatient = setTimeout(() => server.closeAllConnections(), STOP_MS);
      await closed;
      clearTimeout(impatient);
    },
  };
}

function mountFor(mounts: Mounts, url: string): Handler {
  const path = url.split('?', 1)[0] ?? '/';
  if (path === '/healthz' || path === '/readyz') return mounts.health;
  if (path === '/v1' || path.startsWith('/v1/')) return mounts.rest ?? notHere('The REST role');
  return mounts.admin ?? notHere('The admin role');
}

function notHere(role: string): Handler {
  return async (_request, response) => {
    const message = `${role} does not run in this process; see ROLES.`;
    writeJson(response, 404, { error: { code: 'not_found', reason: 'route_not_found', message } });
  };
}

export function writeJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}

async function listen(server: Server, host: string, wanted: number | undefined): Promise<void> {
  if (wanted !== undefined) {
    return listenOn(server, host, wanted).catch((error) => {
      if (!isBusy(error)) throw error;
      throw new Error(`PORT ${wanted} is in use; end what listens there, or set another port.`);
    });
  }
  for (let port: number = usualPorts.PORT; port < usualPorts.PORT + PORTS_TRIED; port++) {
    try {
      return await listenOn(server, host, port);
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
  }
  throw new Error(`no port from ${usualPorts.PORT} to ${usualPorts.PORT + PORTS_TRIED - 1} is free; set PORT`);
}

function listenOn(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}

/** The path of a target: proxies may send the whole address, and RFC 9112 section 3.2.2 asks servers to take it. */
function originForm(target: string): string {
  const absolute = /^https?:\/\/[^/?]*(.*)$/i.exec(target);
  if (!absolute) return target;
  const rest = absolute[1] ?? '';
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Without the REST role nobody counts; the answer is JSON all the same. */
async function refusePlainly(_error: Error, socket: Duplex): Promise<void> {
  if (!socket.writable) return;
  const error = { code: 'invalid_request', reason: 'malformed_request', message: 'The request is not valid HTTP.' };
  const body = JSON.stringify({ error });
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
