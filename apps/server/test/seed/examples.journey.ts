import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Instance, startInstance } from './instance.ts';

// Reads docs/openapi.json as an integrator would, and sends its examples.

let instance: Instance;
beforeAll(async () => {
  instance = await startInstance(['example.com']);
});
afterAll(() => instance.stop());

type Json = Record<string, unknown>;
const document = JSON.parse(readFileSync(new URL('../../../../docs/openapi.json', import.meta.url), 'utf8')) as Json & {
  paths: Record<string, Record<string, Json>>;
};

/** Resolves a `$ref` and returns the schema with the references followed to reach it. */
function resolved(schema: Json, path: readonly string[]): { readonly schema: Json; readonly seen: readonly string[] } {
  const { $ref } = schema;
  if (typeof $ref !== 'string' || path.includes($ref))
    return { schema: typeof $ref === 'string' ? {} : schema, seen: path };
  const target = $ref
    .split('/')
    .slice(1)
    .reduce<unknown>((part, name) => (part as Json)[name], document);
  return resolved(target as Json, [...path, $ref]);
}

/** A step is the name of a property, or [] for an entry of a list. */
type Steps = readonly string[];

interface Example {
  readonly method: string;
  readonly path: string;
  readonly place: 'body' | 'query' | 'path';
  readonly steps: Steps;
  readonly value: unknown;
}

/** Returns the examples in a request schema, with their paths. */
function examplesIn(node_schema: Json, steps: Steps = [], above: readonly string[] = []): [Steps, unknown][] {
  const { schema, seen: path } = resolved(node_schema, above);
  const below = (part: unknown, next_steps: Steps) => examplesIn(part as Json, [...steps, ...next_steps], path);
  const variants = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => (schema[name] ?? []) as Json[]);
  return [
    ...((schema.examples ?? []) as unknown[]).map((value): [Steps, unknown] => [steps, value]),
    ...variants.flatMap((variant) => below(variant, [])),
    ...Object.entries((schema.properties ?? {}) as Json).flatMap(([name, field]) => below(field, [name])),
    ...(schema.items ? below(schema.items, ['[]']) : []),
  ];
}

/** Counts all examples regardless of their position, to verify that `examplesIn` misses none. */
function countIn(value: unknown, above: readonly string[] = []): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, part) => sum + countIn(part, above), 0);
  if (typeof value !== 'object' || value === null) return 0;
  const { schema, seen: path } = resolved(value as Json, above);
  return Object.entries(schema).reduce((sum, [name, part]) => {
    if (name === 'example') return sum + 1;
    return sum + (name === 'examples' && Array.isArray(part) ? part.length : countIn(part, path));
  }, 0);
}

interface OperationSpec {
  readonly parameters?: readonly { name: string; in: 'query' | 'path'; schema: Json }[];
  readonly requestBody?: { content: Record<string, { schema: Json; example?: unknown }> };
}

const examples: Example[] = [];
let count = 0;
for (const [path, verbs] of Object.entries(document.paths)) {
  for (const [verb, operation] of Object.entries(verbs)) {
    const { parameters = [], requestBody } = operation as OperationSpec;
    count += countIn(parameters) + countIn(requestBody ?? null);
    const at = { method: verb.toUpperCase(), path };
    for (const { name, in: place, schema } of parameters)
      for (const [, value] of examplesIn(schema)) examples.push({ ...at, place, steps: [name], value });
    for (const { schema, example } of Object.values(requestBody?.content ?? {})) {
      if (example !== undefined) examples.push({ ...at, place: 'body', steps: [], value: example });
      for (const [steps, value] of examplesIn(schema)) examples.push({ ...at, place: 'body', steps, value });
    }
  }
}

const plain = examples.find(({ method, path, steps }) => `${method} ${path}` === 'POST /email/send' && !steps.length)
  ?.value as Json;
const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
const SINCE = '2020-01-01T00:00:00Z';

/** Other fields that an operation requires. */
const needed: Readonly<Record<string, Json>> = {
  'POST /email/send': plain,
  'PATCH /email/{id}': { scheduled_at },
  'POST /webhooks': { url: 'https://example.com/hooks' },
  'POST /webhooks/{id}/recover': { since: SINCE },
  'POST /suppressions': { email: 'ada@example.net' },
  'POST /api-keys': { name: 'Shop', scopes: ['email:send'] },
  'POST /domains': { name: 'fresh.example' },
};
/** Other fields that a list entry requires. */
const entries: Readonly<Record<string, Json>> = {
  '': plain,
  messages: plain,
  attachments: { filename: 'a.txt', content: 'SGVsbG8=' },
  suppressions: { email: 'charles@example.net' },
};

/** Returns the body with a value set at its path. */
function withValue(body: unknown, steps: Steps, value: unknown, list = ''): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) return value;
  if (step === '[]') return [withValue(entries[list], rest, value)];
  // A single address replaces the list.
  const { email: _, ...others } = body as Json;
  return { ...(step === 'suppressions' ? others : (body as Json)), [step]: withValue(body, rest, value, step) };
}

const ALL = ['email:send', 'email:logs:read', 'domains:read', 'domains:write', 'webhooks:manage', 'admin'];
const keys = new Map<string, string>();

/** Returns a separate key for each operation, because together they would exceed the rate limit of a single key. */
async function keyFor(operation: string): Promise<string> {
  const known = keys.get(operation);
  if (known !== undefined) return known;
  const key = await call('POST', '/api-keys', { name: operation.slice(0, 40), scopes: ALL }, instance.key);
  const secret = String((JSON.parse(key.text) as Json).secret);
  keys.set(operation, secret);
  return secret;
}

async function call(method: string, path: string, body?: unknown, key = instance.key) {
  const response = await fetch(`${instance.base}${path}`, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

async function sendExample({ method, path, place, steps, value }: Example): Promise<{ status: number; text: string }> {
  const operation = `${method} ${path}`;
  const parameters = ((document.paths[path]?.[method.toLowerCase()] ?? {}) as OperationSpec).parameters ?? [];
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = parameters.find((one) => one.name === name);
    return encodeURIComponent(
      String(place === 'path' && name === steps[0] ? value : parameter && examplesIn(parameter.schema)[0]?.[1]),
    );
  });
  // A range that starts in the future is empty unless it has an explicit end.
  const until = path === '/stats' && steps[0] === 'since' ? '&until=2030-02-01T00:00:00Z' : '';
  const query = place === 'query' ? `?${steps[0]}=${encodeURIComponent(String(value))}${until}` : '';
  const body = place === 'body' ? withValue(needed[operation] ?? {}, steps, value) : needed[operation];
  const key = await keyFor(operation);
  const response = await call(method, `${filled}${query}`, body, key);
  // A workspace can have at most ten endpoints.
  if (operation === 'POST /webhooks')
    await call('DELETE', `/webhooks/${(JSON.parse(response.text) as Json).id}`, undefined, key);
  return response;
}

const cases = examples.map((one) => [one.method, one.path, one.steps.join('.'), one.value, one] as const);

describe('every example in the OpenAPI document', () => {
  it('is listed below', () => {
    expect(examples).toHaveLength(count);
    expect(count).toBeGreaterThan(150);
  });

  it.each(cases.filter(([, path]) => !path.includes('{')))('is accepted by %s %s: %s = %j', async (...row) => {
    const response = await sendExample(row[4]);

    if (response.status >= 300) {
      expect(response.status, response.text).toBe(422);
      expect(response.text).toMatch(/"reason":"(?:domain_already_exists|suppression_exists)"/);
    }
  });

  it.each(cases.filter(([, path]) => path.includes('{')))('is parsed by %s %s: %s = %j', async (...row) => {
    const response = await sendExample(row[4]);

    // No object here has the example's ID.
    if (response.status >= 300) {
      expect(response.status, response.text).toBe(404);
      expect(response.text).toMatch(/"reason":"(?!route)\w+_not_found"/);
    }
  });
});
