import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { adviceOn, Problem } from '../terminal/problem.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { keyOf, notPostrider, request, serviceUrl } from './client.ts';

/** The arguments of a field, each with its type. */
export type Arguments = Readonly<Record<string, readonly [type: string, value: unknown]>>;

const refusal = z.looseObject({
  __typename: z.string().regex(/Error$/),
  code: z.string(),
  reason: z.string(),
  message: z.string(),
  requestId: z.string().optional(),
  docsUrl: z.string().optional(),
  fields: z.array(z.looseObject({ path: z.array(z.string()), message: z.string() })).optional(),
});
type Refusal = z.output<typeof refusal>;

const answer = z.object({
  data: z.object({ value: z.unknown() }).nullish(),
  errors: z.array(z.looseObject({ message: z.string(), extensions: refusal.partial().nullish() })).nullish(),
});

const PAGE = 100;
const TRIES = 5;
const REFUSED =
  '... on ApiError { code reason message requestId docsUrl } ... on InvalidInputError { fields { path message } }';

interface Ask {
  readonly kind?: 'mutation';
  readonly field: string;
  readonly selection: string;
  readonly args?: Arguments;
  /** Variables that the selection uses. */
  readonly inner?: Arguments;
}

/** Reads a field of the query type, under the names that REST has. */
export async function read<T>(
  terminal: Terminal,
  field: string,
  selection: string,
  args: Arguments = {},
  inner: Arguments = {},
): Promise<T> {
  // The cast holds because the selection names the fields of T, which the schema of the service types.
  return wire(await send(terminal, { field, selection, args, inner })) as T;
}

/** Every entry of a connection. */
export async function everyEntry<T>(
  terminal: Terminal,
  field: string,
  selection: string,
  args: Arguments = {},
): Promise<T[]> {
  const entries: T[] = [];
  for await (const entry of entriesOf<T>(terminal, field, selection, args)) entries.push(entry);
  return entries;
}

/** The entries of a connection, page by page. */
export async function* entriesOf<T>(
  terminal: Terminal,
  field: string,
  selection: string,
  args: Arguments = {},
): AsyncGenerator<T> {
  let cursor: string | null = null;
  do {
    const page: Page<T> = await pageOf<T>(terminal, field, selection, {
      ...args,
      first: ['Int', PAGE],
      after: ['String', cursor],
    });
    yield* page.data;
    cursor = page.next_cursor;
  } while (cursor !== null);
}

export interface Page<T> {
  readonly object: 'list';
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

const connection = z.object({
  nodes: z.array(z.unknown()),
  pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
});

/** One page of a connection, as REST lists it. */
export async function pageOf<T>(
  terminal: Terminal,
  field: string,
  selection: string,
  args: Arguments,
): Promise<Page<T>> {
  const page = `nodes { ${selection} } pageInfo { hasNextPage endCursor }`;
  return listOf(await send(terminal, { field, selection: page, args }));
}

/** A connection, as REST lists it. */
function listOf<T>(found: unknown): Page<T> {
  const { nodes, pageInfo } = connection.parse(found);
  const { hasNextPage: has_more, endCursor } = pageInfo;
  // The cast holds as in read.
  return { object: 'list', data: wire(nodes) as T[], has_more, next_cursor: has_more ? endCursor : null };
}

/** Runs a mutation; what it refuses is thrown. */
export async function change<T>(
  terminal: Terminal,
  field: string,
  [type, input]: readonly [type: string, input: Readonly<Record<string, unknown>>],
  selection: string,
): Promise<T> {
  const whole = `__typename ${selection} ${REFUSED}`;
  const args: Arguments = { input: [`${type}!`, input] };
  // The cast holds as in read.
  return wire(await send(terminal, { kind: 'mutation', field, selection: whole, args })) as T;
}

/** A read waits until the budget of its key allows it: long lists take more than there is at once. */
async function send(terminal: Terminal, wanted: Ask): Promise<unknown> {
  for (let tried = 1; ; tried++)
    try {
      return await sendOnce(terminal, wanted);
    } catch (error) {
      const wait_s = error instanceof Problem ? error.facts.retry_after_seconds : undefined;
      if (wanted.kind === 'mutation' || wait_s === undefined || tried === TRIES) throw error;
      await pause(wait_s * 1000);
    }
}

async function sendOnce(terminal: Terminal, { kind, field, selection, args = {}, inner = {} }: Ask): Promise<unknown> {
  const given = Object.entries(args).filter(([, [, value]]) => value !== undefined && value !== null);
  const all = [...given, ...Object.entries(inner)];
  const declared = all.map(([name, [type]]) => `$${name}: ${type}`).join(', ');
  const passed = given.map(([name]) => `${name}: $${name}`).join(', ');
  const query = `${kind ?? 'query'}${declared && ` (${declared})`} { value: ${field}${passed && `(${passed})`} { ${selection} } }`;
  const variables = Object.fromEntries(all.map(([name, [, value]]) => [name, value]));
  const url = serviceUrl(terminal);
  const response = await request(url, `${url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${keyOf(terminal)}`,
      'content-type': 'application/json',
      accept: 'application/graphql-response+json',
    },
    body: JSON.stringify({ query, variables }),
  });
  const parsed = answer.safeParse(await response.json().catch(() => null));
  if (!parsed.success) throw notPostrider(url, response.status);
  const { data, errors } = parsed.data;
  const [error] = errors ?? [];
  if (error) {
    const { reason = 'unexpected', code = '' } = error.extensions ?? {};
    throw problemOf({ ...error.extensions, __typename: 'Error', reason, code, message: error.message }, response);
  }
  const refused = refusal.safeParse(data?.value);
  if (refused.success) throw problemOf(refused.data, response);
  return data?.value;
}

const PASSING = new Set(['rate_limited', 'internal_error']);

function problemOf({ code, reason, message, requestId, docsUrl, fields }: Refusal, response: Response): Problem {
  return new Problem({
    reason,
    message,
    details: fields?.map(({ path, message: what }) => ({ param: path.join('.'), message: what })),
    request_id: requestId,
    docs_url: docsUrl,
    advice: adviceOn(reason),
    passing: PASSING.has(code.toLowerCase()) || response.status >= 500,
    retry_after_seconds: Number(response.headers.get('retry-after')) || undefined,
  });
}

/** The value of an enum, which the schema spells in capitals. */
export function enumValue(value: string | undefined): string | undefined {
  return value?.toUpperCase().replaceAll('-', '_');
}

// Free JSON, whose names are the callers'.
const UNTOUCHED = new Set(['data', 'diff', 'error', 'exported', 'filter', 'lines', 'output']);
const ENUMS = new Set([
  'action',
  'bucket',
  'closed_reason',
  'dimension',
  'ended_by',
  'kind',
  'metric',
  'missed_policy',
  'outcome',
  'role',
  'scope',
  'state',
  'status',
  'unknown_policy',
  'via',
]);
/** What GraphQL calls otherwise. */
const NAMES: Readonly<Record<string, string>> = {
  human: 'in_words',
  ip: 'address',
  max_recipients_per_request: 'recipients_per_request',
  other_per_minute: 'default_per_minute',
  smtp_code: 'code',
  user_id: 'id',
};

/** What GraphQL answers, under the names and values of REST. */
export function wire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(wire);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== '__typename')
      .map(([given, inner]) => {
        const spelled = snakeCase(given).replace(/_per_min$/, '_per_minute');
        const name = NAMES[spelled] ?? spelled;
        if (UNTOUCHED.has(name)) return [name, inner];
        return [name, ENUMS.has(name) && typeof inner === 'string' ? inner.toLowerCase() : wire(inner)];
      }),
  );
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
