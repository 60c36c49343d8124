import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, type ErrorDetail, type Page } from '@postrider/sdk';
import { z } from 'zod';
import type { Terminal } from '../terminal/terminal.ts';
import { keyOf, notPostrider, request, serviceUrl } from './client.ts';

const refusal = z.looseObject({
  __typename: z.string().regex(/Error$/),
  code: z.string(),
  reason: z.string(),
  message: z.string(),
  requestId: z.string().default(''),
  docsUrl: z.string().optional(),
  fields: z.array(z.looseObject({ path: z.array(z.string()), message: z.string() })).default([]),
});

const reply = z.object({
  data: z.object({ value: z.unknown() }).nullish(),
  errors: z.array(z.looseObject({ message: z.string(), extensions: refusal.partial().nullish() })).nullish(),
});

const PAGE = 100;
const MAX_ATTEMPTS = 5;
const ERROR_FIELDS =
  '... on ApiError { code reason message requestId docsUrl } ... on InvalidInputError { fields { path message } }';

/** Fields, with the type of their result under REST names. */
export interface Selection<T> {
  readonly text: string;
  /** Only for the type checker. */
  readonly holds?: T;
}

export function select<T>(text: string): Selection<T> {
  return { text };
}

interface Connection<T> {
  readonly nodes: readonly T[];
  readonly page_info: { readonly has_next_page: boolean; readonly end_cursor: string | null };
}

type Types = Readonly<Record<string, string>>;
interface Scalars {
  readonly ID: string;
  readonly String: string;
  readonly Int: number;
  readonly Boolean: boolean;
}
type Scalar<N> = N extends keyof Scalars ? Scalars[N] : unknown;
type VariablesOf<V extends Types> = {
  readonly [N in keyof V as V[N] extends `${string}!` ? N : never]: V[N] extends `${infer S}!` ? Scalar<S> : never;
} & { readonly [N in keyof V as V[N] extends `${string}!` ? never : N]?: Scalar<V[N]> | null | undefined };

export interface Document<T, V> {
  readonly kind: 'query' | 'mutation';
  readonly text: string;
  /** Only for the type checker. */
  readonly types?: { readonly value: T; readonly variables: V };
}

/** Every declared document, so that a test can validate it. */
export const documents: Document<unknown, unknown>[] = [];

function declare<T, V>(kind: Document<T, V>['kind'], field: string, passed: Types, inner: Types, fields: string) {
  const declared = Object.entries({ ...passed, ...inner }).map(([name, type]) => `$${name}: ${type}`);
  const args = Object.keys(passed).map((name) => `${name}: $${name}`);
  const list = (items: readonly string[]) => (items.length > 0 ? `(${items.join(', ')})` : '');
  const text = `${kind} ${list(declared)} { value: ${field}${list(args)} { ${fields} } }`;
  const document: Document<T, V> = { kind, text };
  documents.push(document);
  return document;
}

/** Declares a field of the query type, with the types of its arguments and of the variables inside the selection. */
export function query<T, const V extends Types, const I extends Types = Record<never, string>>(
  field: string,
  args: V,
  { text }: Selection<T>,
  inner?: I,
): Document<T, VariablesOf<V & I>> {
  return declare('query', field, args, inner ?? {}, text);
}

/** Declares a connection, with the types of its arguments other than the paging arguments. */
export function listQuery<T, const V extends Types>(field: string, args: V, { text }: Selection<T>) {
  const fields = select<Connection<T>>(`nodes { ${text} } pageInfo { hasNextPage endCursor }`);
  return query(field, { ...args, first: 'Int', after: 'String' } as const, fields);
}

/** Declares a mutation, which takes one input; its rejections are thrown. */
export function mutation<T>(field: string, input: string, { text }: Selection<T>) {
  type Variables = { readonly input: Readonly<Record<string, unknown>> };
  return declare<T, Variables>('mutation', field, { input: `${input}!` }, {}, `__typename ${text} ${ERROR_FIELDS}`);
}

type ListDocument<T, V> = Document<Connection<T>, V>;

/** Yields the entries of a connection, page by page. */
export async function* entriesOf<T, V extends object>(
  terminal: Terminal,
  document: ListDocument<T, V>,
  variables: NoInfer<V>,
) {
  let cursor: string | null = null;
  do {
    const page: Page<T> = await pageOf(terminal, document, { ...variables, first: PAGE, after: cursor });
    yield* page.data;
    cursor = page.next_cursor;
  } while (cursor !== null);
}

/** Returns one page of a connection, in the shape of a REST list. */
export async function pageOf<T, V>(
  terminal: Terminal,
  document: ListDocument<T, V>,
  variables: NoInfer<V>,
): Promise<Page<T>> {
  const { nodes, page_info } = await graphql(terminal, document, variables);
  const { has_next_page: has_more, end_cursor } = page_info;
  return { object: 'list', data: [...nodes], has_more, next_cursor: has_more ? end_cursor : null };
}

/**
 * Runs a document. A query waits until its key's budget allows it: long lists need more than is available at one time.
 */
export async function graphql<T, V>(terminal: Terminal, document: Document<T, V>, variables: NoInfer<V>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      // The cast is safe because the document's selection names the fields of T.
      return wire(await send(terminal, document.text, variables)) as T;
    } catch (error) {
      const wait_s = error instanceof ApiError ? error.retry_after_seconds : null;
      if (document.kind === 'mutation' || !wait_s || attempt === MAX_ATTEMPTS) throw error;
      await pause(wait_s * 1000);
    }
}

async function send(terminal: Terminal, text: string, variables: unknown): Promise<unknown> {
  const url = serviceUrl(terminal);
  const response = await request(url, `${url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${keyOf(terminal)}`,
      'content-type': 'application/json',
      accept: 'application/graphql-response+json',
    },
    body: JSON.stringify({ query: text, variables }),
  });
  const parsed = reply.safeParse(await response.json().catch(() => null));
  const { data, errors } = parsed.data ?? {};
  const [error] = errors ?? [];
  if (!data && !error) throw notPostrider(url, response.status);
  const rejection = error
    ? { reason: 'unexpected', code: '', ...error.extensions, __typename: 'Error', message: error.message }
    : data?.value;
  const { data: rejected } = refusal.safeParse(rejection);
  if (!rejected) return data?.value;
  const { code, reason, message, requestId: request_id, docsUrl: docs_url = '', fields } = rejected;
  const details = fields.map(
    ({ path, message: what }): ErrorDetail => ({ param: path.join('.'), reason, message: what }),
  );
  throw new ApiError(
    response.status,
    { code: code.toLowerCase(), reason, message, details, request_id, docs_url },
    Number(response.headers.get('retry-after')) || null,
  );
}

/** Returns an enum value as spelled in the schema, in capitals. */
export function enumValue(value: string | undefined): string | undefined {
  return value?.toUpperCase().replaceAll('-', '_');
}

// Free-form JSON, whose names belong to the callers.
const UNTOUCHED = new Set(['data', 'diff', 'error', 'exported', 'filter', 'headers', 'lines', 'output']);
const ENUM_FIELDS = new Set([
  'action',
  'bucket',
  'closed_reason',
  'dimension',
  'ended_by',
  'envelope_from',
  'kind',
  'metric',
  'missed_policy',
  'outcome',
  'priority',
  'provider',
  'role',
  'rule_of',
  'scope',
  'signing',
  'state',
  'status',
  'tls',
  'unknown_policy',
  'via',
]);
/** Fields that have a different name in GraphQL. */
const NAMES: Readonly<Record<string, string>> = {
  human: 'in_words',
  ip: 'address',
  max_recipients_per_request: 'recipients_per_request',
  other_per_minute: 'default_per_minute',
  sandbox_other_per_minute: 'sandbox_default_per_minute',
  smtp_code: 'code',
  user_id: 'id',
};

/** Converts a GraphQL result to the names and values of REST. */
export function wire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(wire);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== '__typename')
      .map(([key, inner]) => {
        const spelled = snakeCase(key).replace(/_per_min$/, '_per_minute');
        const name = NAMES[spelled] ?? spelled;
        if (UNTOUCHED.has(name)) return [name, inner];
        return [name, ENUM_FIELDS.has(name) && typeof inner === 'string' ? inner.toLowerCase() : wire(inner)];
      }),
  );
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
