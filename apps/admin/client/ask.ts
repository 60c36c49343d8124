import { print, type TypedQueryDocumentNode } from 'graphql';

/** What the server refused, with the reason to branch on. */
export class GraphqlRefusal extends Error {
  readonly reason: string;
  readonly request_id: string;

  constructor(message: string, reason: string, request_id: string) {
    super(message);
    this.name = 'GraphqlRefusal';
    this.reason = reason;
    this.request_id = request_id;
  }
}

interface Answer<T> {
  readonly data?: T | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: Readonly<Record<string, unknown>> }[];
}

/** Sends a document whose types were made by scripts/write-graphql-client.ts, and answers its data. */
export async function ask<T, V>(
  { url, key }: { readonly url: string; readonly key: string },
  document: TypedQueryDocumentNode<T, V>,
  variables: V,
): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/graphql-response+json',
    },
    body: JSON.stringify({ query: print(document), variables }),
  });
  // The schema that the types were made from is the one that answers.
  const { data, errors = [] } = (await response.json()) as Answer<T>;
  const [error] = errors;
  if (!error && data) return data;
  const { reason = 'unexpected', requestId = '' } = error?.extensions ?? {};
  throw new GraphqlRefusal(error?.message ?? 'The server answered nothing.', String(reason), String(requestId));
}
