import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpListener {
  readonly port: number;
  /** The URL without a path. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Serves a handler on a free loopback port. Connections stay open as long as the product's connections: with Node's
 * five seconds, a busy machine closes a connection that fetch is about to use, and the request fails with ECONNRESET.
 */
export async function listenHttp(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<HttpListener> {
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The server listens on a port, so its address is not a path.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
