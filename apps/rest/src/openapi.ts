import { type ErrorCode, errorCodes, type Operation, publicErrorSchema, type Reason, reasons } from '@postrider/core';
import { z } from 'zod';
import { httpStatus } from './errors.ts';
import { type Route, routes } from './routes.ts';

// Made of the very schemas that parse requests and type answers, so that it cannot say anything else.

type Json = Readonly<Record<string, unknown>>;

const errorSchema = z.object({
  error: publicErrorSchema.extend({ request_id: z.string(), docs_url: z.string().meta({ format: 'uri' }) }),
});

/** The OpenAPI 3.1 document of the routes that exist. */
export function openApiDocument(public_url: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Postrider',
      version: '1',
      description: 'Transactional email: send, read what became of it, manage keys. /v1 only grows.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: `${public_url}/v1` }],
    security: [{ api_key: [] }],
    paths,
    components: {
      securitySchemes: {
        api_key: { type: 'http', scheme: 'bearer', description: 'An API key, pr_live_… or pr_test_….' },
      },
      headers: rateHeaders,
      schemas: { Error: schemaOf(errorSchema, 'output') },
      responses: Object.fromEntries(errorCodes.map((code) => [code, errorResponse(code)])),
    },
  };
}

function operationOf(route: Route): Json {
  const { operation, path, method, rehearsal } = route;
  const input = schemaOf(operation.input, 'input');
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  const parameters = [
    ...inPath.map((name) => ({ name, in: 'path', required: true, schema: propertyOf(input, name) })),
    ...(method === 'GET' ? queryParameters(input, inPath) : []),
    ...(rehearsal ? [dryRunParameter] : []),
    ...(method === 'POST' && takesIdempotencyKey(route) ? [idempotencyParameter] : []),
  ];
  const body = method === 'GET' ? null : withoutFields(input, inPath);
  return {
    operationId: operation.name.replace(/\W/g, '_'),
    summary: operation.summary,
    description: `Scope: ${operation.scope ?? 'any valid key'}. Window: ${route.rate_class}.`,
    tags: [path.split('/')[1] ?? ''],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      [route.status]: answer(operation, 'The answer.'),
      ...(rehearsal && { 200: answer(rehearsal, 'The rehearsal that dry_run=true asks for.') }),
      ...Object.fromEntries(errorCodes.map((code) => [httpStatus[code], { $ref: `#/components/responses/${code}` }])),
    },
  };
}

/** An operation that a repeat could run twice takes a key that makes it safe. */
function takesIdempotencyKey({ rate_class, operation }: Route): boolean {
  return rate_class === 'send' || operation.name === 'email.resend';
}

function answer(operation: Operation<z.ZodType, unknown>, description: string): Json {
  return {
    description,
    headers: headerRefs,
    content: { 'application/json': { schema: schemaOf(operation.output, 'output') } },
  };
}

function errorResponse(code: ErrorCode): Json {
  const known = (Object.keys(reasons) as Reason[]).filter((reason) => reasons[reason][0] === code);
  return {
    description: known.map((reason) => `- \`${reason}\`: ${reasons[reason][1]}`).join('\n'),
    headers: code === 'rate_limited' ? { ...headerRefs, 'Retry-After': headerRef('Retry-After') } : headerRefs,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema, ...json } = z.toJSONSchema(schema, { io, target: 'draft-2020-12', unrepresentable: 'any' });
  return json;
}

function fieldsOf(schema: Json): Readonly<Record<string, Json>> {
  // zod writes properties for every object schema.
  return (schema.properties ?? {}) as Readonly<Record<string, Json>>;
}

function requiredOf(schema: Json): readonly string[] {
  return (schema.required ?? []) as readonly string[];
}

function propertyOf(schema: Json, name: string): Json {
  return fieldsOf(schema)[name] ?? { type: 'string' };
}

function queryParameters(schema: Json, except: readonly string[]): Json[] {
  return Object.entries(fieldsOf(schema))
    .filter(([name]) => !except.includes(name))
    .map(([name, field]) => ({ name, in: 'query', required: requiredOf(schema).includes(name), schema: field }));
}

/** The body is the input less what the path already says; null where nothing is left. */
function withoutFields(schema: Json, names: readonly string[]): Json | null {
  if (schema.type !== 'object') return schema;
  const properties = Object.fromEntries(Object.entries(fieldsOf(schema)).filter(([name]) => !names.includes(name)));
  if (Object.keys(properties).length === 0) return null;
  return { ...schema, properties, required: requiredOf(schema).filter((name) => !names.includes(name)) };
}

const dryRunParameter = {
  name: 'dry_run',
  in: 'query',
  required: false,
  description: 'true runs every check and renders the mail; nothing is stored or sent.',
  schema: { type: 'boolean', default: false },
};

const idempotencyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Makes a repeat safe for 24 hours: the same key and body get the first answer again.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const rateHeaders = {
  'X-RateLimit-Limit': { description: 'Requests allowed in the window.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests left in the window.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'When the window resets, in Unix seconds.', schema: { type: 'integer' } },
  'X-Request-Id': { description: 'Names the request in logs and errors.', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
};

function headerRef(name: keyof typeof rateHeaders): Json {
  return { $ref: `#/components/headers/${name}` };
}

const headerRefs = Object.fromEntries(
  (['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-Request-Id'] as const).map((name) => [
    name,
    headerRef(name),
  ]),
);
