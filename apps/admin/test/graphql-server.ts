import type { Services } from '@postrider/core';
import { listenHttp, type World } from '@postrider/testing';
import { endAfterTests } from '@postrider/testing/open-world';
import { createHandler } from '../src/index.ts';

export interface GraphqlError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>>;
}

export interface GraphqlResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // The test reads responses like a client without a schema. Each test asserts on the fields it names.
  readonly data: Record<string, unknown> | null | undefined;
  readonly errors: readonly GraphqlError[];
  readonly extensions: Readonly<Record<string, unknown>>;
}

export interface GraphqlServer {
  readonly url: string;
  ask(query: string, variables?: Readonly<Record<string, unknown>>, options?: AskOptions): Promise<GraphqlResponse>;
  stop(): Promise<void>;
}

export interface AskOptions {
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly operation?: string;
}

/** Serves /graphql on a separate socket, alongside the other pages. */
export async function startGraphql(services: Services, default_key: string): Promise<GraphqlServer> {
  const listener = await listenHttp(createHandler(services));
  const url = `${listener.url}/graphql`;
  return {
    url,
    async ask(query, variables, { key = default_key, headers = {}, operation } = {}) {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/graphql-response+json',
          ...(key !== null && { authorization: `Bearer ${key}` }),
          ...headers,
        },
        body: JSON.stringify({ query, operationName: operation, ...(variables && { variables }) }),
      });
      const text = await response.text();
      const body = JSON.parse(text) as Partial<GraphqlResponse>;
      const { data, errors = [], extensions = {} } = body;
      return { status: response.status, headers: response.headers, text, data, errors, extensions };
    },
    stop: listener.stop,
  };
}

/** Serves /graphql for a test file, with the world's key by default, until its last test has ended. */
export async function openGraphql({ services, secret }: World): Promise<GraphqlServer> {
  return endAfterTests(await startGraphql(services, secret));
}
