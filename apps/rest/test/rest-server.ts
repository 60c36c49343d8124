import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Services } from '@postrider/core';
import { createHandler } from '../src/index.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // Tests read answers as a client would, without a schema; each asserts on what it names.
  readonly body: Record<string, unknown>;
  readonly text: string;
}

export interface RestServer {
  readonly url: string;
  readonly port: number;
  /** Sends a request with a key; an object becomes a JSON body, a string goes as it is. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  stop(): Promise<void>;
}

export interface CallOptions {
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** /v1 on a socket of its own. */
export async function startRest(services: Services, default_key: string): Promise<RestServer> {
  const handle = createHandler(services);
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/v1`;
  return {
    url,
    port,
    async call(method, path, { key = default_key, body, headers = {} } = {}) {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: {
          ...(key !== null && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) as Record<string, unknown> };
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
