import { readFileSync } from 'node:fs';
import { codeOf, httpStatus, reasons } from '@postrider/core';
import { eventCatalogue, eventSchema, eventTypes, exampleEvent } from '@postrider/core/events';
import { breakingChanges, createWorld, type World } from '@postrider/testing';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openApiFile, openApiText } from '../../../scripts/write-openapi.ts';
import { openApiDocument } from '../src/index.ts';
import { reasonsOf } from '../src/route-reasons.ts';
import { routes } from '../src/routes.ts';
import { fillWindow } from './rate-windows.ts';
import { errorOf, type RestServer, rateOf, startRest } from './rest-server.ts';

type Json = Readonly<Record<string, unknown>>;

interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security: readonly Json[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly requestBody?: Json;
  readonly 'x-codeSamples': readonly { readonly lang: string; readonly source: string }[];
  readonly responses: Readonly<Record<string, Json>>;
}

// The validator checks that the document has this shape, and the tests below check the rest.
const document = JSON.parse(openApiText()) as {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly components: Readonly<Record<'schemas' | 'responses' | 'headers', Readonly<Record<string, Json>>>>;
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

/** Returns every object in a JSON value, including the value itself. */
function objectsIn(value: unknown): Json[] {
  if (typeof value !== 'object' || value === null) return [];
  const own_objects = Array.isArray(value) ? [] : [{ ...value }];
  return [...own_objects, ...Object.values(value).flatMap(objectsIn)];
}

/** Returns the reasons that an error response lists. */
function namedIn(response: Json): string[] {
  return [...String(resolved(response).description).matchAll(/^- `(\w+)`: /gm)].map(([, reason]) => reason ?? '');
}

/** Resolves a reference. */
function resolved(schema: Json): Json {
  const { $ref } = schema;
  if (typeof $ref !== 'string') return schema;
  const parts = $ref.split('/').slice(1);
  return resolved(parts.reduce<unknown>((part, name) => (part as Json)[name], document) as Json);
}

/**
 * Returns the alternatives that a schema expands to through anyOf, oneOf, and allOf, without the schemas that combine
 * them.
 */
function variantsOf(definition: Json): Json[] {
  const schema = resolved(definition);
  const inner = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => (schema[name] ?? []) as Json[]);
  return inner.length > 0 ? inner.flatMap(variantsOf) : [schema];
}

/** Returns the paths of a body's optional fields that do not accept null. */
function fieldsWithoutNull(schema: Json, path: string): string[] {
  return variantsOf(schema).flatMap(({ properties = {}, required = [], items }) => [
    ...(items ? fieldsWithoutNull(items as Json, `${path}[]`) : []),
    ...Object.entries(properties as Record<string, Json>).flatMap(([name, field]) => {
      const takes_null = variantsOf(field).some(({ type }) => type === undefined || [type].flat().includes('null'));
      const missing = !(required as string[]).includes(name) && !takes_null;
      return [...(missing ? [`${path}.${name}`] : []), ...fieldsWithoutNull(field, `${path}.${name}`)];
    }),
  ]);
}

interface Place {
  readonly at: string;
  readonly schema: Json;
}

/** Returns every property in a JSON value, nested ones included, and every parameter. */
function placesIn(value: unknown, at: string): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((one, index) => placesIn(one, `${at}[${index}]`));
  const { properties, parameters, example: _, examples: __, ...rest } = value as Json;
  const fields = Object.entries((properties ?? {}) as Readonly<Record<string, Json>>);
  const inputs = (parameters ?? []) as readonly Json[];
  return [
    ...fields.flatMap(([name, schema]) => [{ at: `${at}.${name}`, schema }, ...placesIn(schema, `${at}.${name}`)]),
    ...inputs.map((input) => ({ at: `${at} ${input.in} ${input.name}`, schema: input })),
    ...Object.entries(rest).flatMap(([name, one]) => placesIn(one, `${at}/${name}`)),
  ];
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(JSON.parse(openApiText()));

    expect(result).toEqual({ valid: true });
  });

  it('resolves every reference, and references every component', () => {
    const referred = new Set(objectsIn(document).flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : [])));
    const names = (['schemas', 'responses', 'headers'] as const).flatMap((kind) =>
      Object.keys(document.components[kind]).map((name) => `#/components/${kind}/${name}`),
    );

    expect([...referred].sort()).toEqual(names.sort());
  });

  it('lists every route and nothing else', () => {
    const described = operations.map(({ method, path }) => `${method} ${path}`);

    expect(described.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
  });

  it('lists every operation once, under tags that have a description', () => {
    const ids = operations.map(({ operation }) => operation.operationId);

    expect(ids).toEqual([...new Set(ids)]);
    expect(new Set(operations.flatMap(({ operation }) => operation.tags))).toEqual(
      new Set(document.tags.map(({ name }) => name)),
    );
  });

  it('describes the payload of every event type, with an accurate example', () => {
    expect(Object.keys(document.webhooks).sort()).toEqual([...eventTypes].sort());
    for (const type of eventTypes) {
      expect(document.webhooks[type]?.post).toMatchObject({
        summary: expect.stringMatching(/^[A-Z].*[^.]$/),
        parameters: [{ name: 'webhook-id' }, { name: 'webhook-timestamp' }, { name: 'webhook-signature' }],
        requestBody: { content: { 'application/json': { example: exampleEvent(type) } } },
      });
      expect(eventSchema.parse(exampleEvent(type))).toEqual(exampleEvent(type));
      expect(eventCatalogue[type].facts.parse(exampleEvent(type).data)).toEqual(exampleEvent(type).data);
    }
  });

  it.each(operations)('describes $method $path completely', ({ method, path, operation }) => {
    const route = routes.find((one) => one.method === method && one.path === path);
    const in_path = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const declared = (operation.parameters ?? []).filter((one) => one.in === 'path');

    expect(operation.summary).toMatch(/^[A-Z].*[^.]$/);
    expect(operation.operationId).toMatch(/^[a-z_]+$/);
    expect(operation.security).toEqual([{ api_key: route?.operation.scope ? [route.operation.scope] : [] }]);
    expect(declared).toEqual(in_path.map((name) => expect.objectContaining({ name, required: true })));
    expect(operation.responses[String(route?.status)]).toMatchObject({
      content: { 'application/json': { schema: expect.anything() } },
    });
  });

  it.each(operations)('describes the errors of $method $path by status', ({ method, path, operation }) => {
    const route = routes.find((one) => one.method === method && one.path === path);
    const possible = new Set(route && [...reasonsOf(route), ...(route.dry_run_operation?.reasons ?? [])]);
    const described = Object.entries(operation.responses)
      .filter(([status]) => Number(status) >= 400)
      .flatMap(([status, response]) => namedIn(response).map((reason) => `${status} ${reason}`));

    expect(described.toSorted()).toEqual(
      [...possible].map((reason) => `${httpStatus[codeOf(reason)]} ${reason}`).toSorted(),
    );
  });

  it('lists every reason', () => {
    expect(document.components.schemas.Reason?.enum).toEqual(Object.keys(reasons));
  });

  it('contains no keywords meant only for machines', () => {
    for (const one of objectsIn(document.paths).concat(objectsIn(document.components.schemas))) {
      expect(Object.keys(one)).not.toContain('$schema');
      expect(Object.keys(one)).not.toContain('readOnly');
      expect([one.minimum, one.maximum]).not.toContain(Number.MAX_SAFE_INTEGER);
      expect(one.additionalProperties).not.toBe(false);
    }
  });

  it('has an example of a send request, and only examples that the service accepts', () => {
    const fields: unknown[] = [];
    for (const { operation } of routes) {
      for (const [schema, io] of [
        [operation.input, 'input'],
        [operation.output, 'output'],
      ] as const) {
        z.toJSONSchema(schema, {
          io,
          unrepresentable: 'any',
          override({ zodSchema }) {
            const examples = z.globalRegistry.get(zodSchema)?.examples;
            for (const example of Array.isArray(examples) ? examples : []) {
              fields.push(example);
              expect(z.safeParse(zodSchema, example), JSON.stringify(example)).toMatchObject({ success: true });
            }
          },
        });
      }
    }

    expect(fields.length).toBeGreaterThan(50);
    expect(document.components.schemas.SendRequest?.examples).toHaveLength(2);
    for (const { examples } of objectsIn(document)) {
      for (const example of Array.isArray(examples) ? examples : []) expect(fields).toContainEqual(example);
    }
  });

  it('accepts null for every optional body field', () => {
    const missing = operations.flatMap(({ method, path, operation }) => {
      const { content = {} } = (operation.requestBody ?? {}) as { content?: Record<string, { schema: Json }> };
      return Object.values(content).flatMap(({ schema }) => fieldsWithoutNull(schema, `${method} ${path}`));
    });

    expect(missing).toEqual([]);
  });

  it('describes every property and every parameter', () => {
    const places = placesIn(document, '#');
    const missing = places.filter(({ schema }) => !schema.description && !resolved(schema).description);

    expect(places.length).toBeGreaterThan(700);
    expect(missing.map(({ at }) => at)).toEqual([]);
  });

  it('differs between instances only in their URL, and is generated once', () => {
    const [one, other] = ['https://mail.example.com', 'http://localhost:3000'].map(openApiDocument);

    expect(
      JSON.parse(JSON.stringify(one).replaceAll('https://mail.example.com/v1', 'http://localhost:3000/v1')),
    ).toEqual(other);
    expect(openApiDocument('http://localhost:3000').paths).toBe(other?.paths);
  });

  it.each(operations)(
    'shows $method $path in five languages, with a response of its schema',
    ({ method, path, operation }) => {
      const route = routes.find((one) => one.method === method && one.path === path);
      const { content } = resolved(operation.responses[String(route?.status)] ?? {});
      const { example } = (content as Record<string, Json>)['application/json'] ?? {};

      expect(operation['x-codeSamples'].map(({ lang }) => lang)).toEqual(['sh', 'ts', 'python', 'go', 'php']);
      expect(route?.operation.output.parse(example)).toEqual(example);
    },
  );
});

describe('docs/openapi.json', () => {
  const snapshot = readFileSync(openApiFile, 'utf8');

  it('is compatible with existing clients', () => {
    expect(breakingChanges(JSON.parse(snapshot), JSON.parse(openApiText()))).toEqual([]);
  });

  it('is current (regenerate with node scripts/write-openapi.ts)', () => {
    expect(snapshot).toBe(openApiText());
  });
});

describe('GET /v1/openapi.json', () => {
  let world: World;
  let rest: RestServer;

  beforeAll(async () => {
    world = await createWorld();
    // Windows are counted per minute.
    await world.clock.freeze(new Date(Math.floor(Date.now() / 60_000) * 60_000 + 5000));
    rest = await startRest(world.services, world.secret);
  });

  afterAll(async () => {
    await rest.stop();
    await world.stop();
  });

  it("returns 200 without a key, and counts the request toward the IP address's limit", async () => {
    const [first, second] = [
      await rest.call('GET', '/openapi.json', { key: null }),
      await rest.call('GET', '/openapi.json', { key: null }),
    ];

    expect(first.status).toBe(200);
    expect(first.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(first.body).toEqual(openApiDocument(world.services.public_url));
    const [window, next_window] = [rateOf(first, world.clock.now()), rateOf(second, world.clock.now())];
    expect(window.limit).toBe(120);
    expect(next_window.remaining).toBe(window.remaining - 1);
    expect(first.headers.get('ratelimit-policy')).toBe('"address";q=120;w=60');
  });

  it('returns 200 with any key', async () => {
    const response = await rest.call('GET', '/openapi.json', { key: 'not-a-key' });

    expect(response.status).toBe(200);
    expect(rateOf(response, world.clock.now()).limit).toBe(120);
  });

  it('returns 404 for any other method', async () => {
    const response = await rest.call('POST', '/openapi.json', { body: {} });

    expect(errorOf(response).reason).toBe('route_not_found');
  });

  it("returns 429 once the IP address's limit is reached, until the next minute", async () => {
    await fillWindow(world, '127.0.0.1', 'address', 120);

    const response = await rest.call('GET', '/openapi.json', { key: null });
    expect(errorOf(response).reason).toBe('address_rate');
    expect(rateOf(response, world.clock.now()).remaining).toBe(0);

    await world.clock.advance(60_000);
    expect((await rest.call('GET', '/openapi.json', { key: null })).status).toBe(200);
  });
});
