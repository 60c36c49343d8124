import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createArrivals } from './arrivals.ts';

export interface SinkRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The raw bytes, because signatures are computed over bytes. */
  readonly body: Buffer;
  readonly received_at: number;
  /** The number of this request among requests to the same path, counted from 1. */
  readonly nth: number;
}

export type WebhookReply =
  | {
      readonly kind: 'reply';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  | { readonly kind: 'drop' }
  | { readonly kind: 'stall'; readonly until: Promise<unknown> };

export type WebhookRule = (request: SinkRequest) => WebhookReply;

export interface WebhookSink {
  readonly url: string;
  readonly requests: readonly SinkRequest[];
  script(rule: WebhookRule): void;
  waitFor(target: number): Promise<SinkRequest[]>;
  waitFor(target: (request: SinkRequest) => boolean): Promise<SinkRequest>;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';

export interface WebhookSinkOptions {
  readonly now?: () => number;
  /** Serves HTTPS with this certificate. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/**
 * Starts a real HTTP receiver on its own loopback port. The receiver responds with 200 unless scripted otherwise, and
 * with 200 after a stall.
 */
export async function startWebhookSink(options: WebhookSinkOptions = {}): Promise<WebhookSink> {
  const now = options.now ?? Date.now;
  const arrivals = createArrivals<SinkRequest>('requests', (request) => `${request.method} ${request.path}`);
  const counts = new Map<string, number>();
  let rule: WebhookRule = () => ({ kind: 'reply', status: 200 });

  const onRequest: RequestListener = (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const path = incoming.url ?? '/';
      const nth = (counts.get(path) ?? 0) + 1;
      counts.set(path, nth);
      const request: SinkRequest = {
        method: incoming.method ?? '',
        path,
        headers: incoming.headers,
        body: Buffer.concat(chunks),
        received_at: now(),
        nth,
      };
      const response = rule(request);
      arrivals.add(request);
      if (response.kind === 'reply') outgoing.writeHead(response.status, response.headers).end(response.body);
      else if (response.kind === 'drop') incoming.socket.destroy();
      else
        response.until.then(
          () => outgoing.writeHead(200).end(),
          () => incoming.socket.destroy(),
        );
    });
  };
  const server = options.tls ? createTlsServer(options.tls, onRequest) : createServer(onRequest);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, HOST, resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    url: `${options.tls ? 'https' : 'http'}://${HOST}:${port}`,
    requests: arrivals.items,
    script(next) {
      rule = next;
    },
    waitFor: arrivals.waitFor,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
