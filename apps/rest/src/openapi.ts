import {
  codeOf,
  type ErrorCode,
  errorCodes,
  httpStatus,
  type Operation,
  publicErrorSchema,
  type Reason,
  reasons,
} from '@postrider/core';
import { type EventType, eventCatalogue, eventSchema, eventTypes, exampleEvent } from '@postrider/core/events';
import { z } from 'zod';
import { commonReasons, reasonsOf, sendsMail } from './route-reasons.ts';
import { type Route, routes } from './routes.ts';
import { sample_inputs } from './samples/inputs.ts';
import { type SampleRequest, samplesOf } from './samples/programs.ts';
import recorded_responses from './samples/responses.json' with { type: 'json' };

// The document is generated from the schemas that parse requests and type responses, so it cannot diverge from them.

type Json = Readonly<Record<string, unknown>>;

/** The body of every error response. */
export const errorSchema = z
  .object({
    error: publicErrorSchema
      .extend({
        request_id: z
          .string()
          .meta({ description: 'Identifies the request in the log. Include it when you ask for help.' }),
        docs_url: z.string().meta({ format: 'uri', description: 'Documentation for the reason.' }),
      })
      .meta({ description: 'Why the request failed.' }),
  })
  .meta({ id: 'Error' });

const INTRODUCTION = `Send transactional email, follow its delivery and manage API keys.

Every request needs \`Authorization: Bearer\` with an API key. Every response is JSON. Its X-RateLimit-* headers describe
the current minute's window. /v1 only grows: responses may gain fields, and their enums may gain values.`;

const sections: readonly Json[] = [
  { name: 'email', 'x-displayName': 'Email', description: 'Send email and follow its delivery.' },
  { name: 'events', 'x-displayName': 'Events', description: 'All events in one list.' },
  { name: 'webhooks', 'x-displayName': 'Webhook endpoints', description: 'Webhook endpoints.' },
  { name: 'suppressions', 'x-displayName': 'Suppressions', description: 'Suppressed addresses.' },
  { name: 'erasures', 'x-displayName': 'Erasures', description: 'Erase an address from all stored data.' },
  { name: 'api-keys', 'x-displayName': 'API keys', description: 'API keys and their scopes.' },
  { name: 'domains', 'x-displayName': 'Sending domains', description: 'Sending domains and their DNS records.' },
  { name: 'captures', 'x-displayName': 'Captured email', description: 'Email captured instead of delivered.' },
  { name: 'requests', 'x-displayName': 'Request log', description: 'Rejected and failed requests.' },
  { name: 'stats', 'x-displayName': 'Statistics', description: 'Email outcomes over time.' },
  { name: 'usage', 'x-displayName': 'Usage', description: 'Usage and plan limits.' },
];

type Surface = Readonly<Record<'paths' | 'webhooks' | 'components', Json>>;
// A process has one URL.
let latest: { readonly base_url: string; readonly surface: Surface } | null = null;

/** Returns the OpenAPI 3.1 document of an instance with this URL. It is generated once. */
export function openApiDocument(public_url: string): Json {
  const base_url = `${public_url}/v1`;
  if (latest?.base_url !== base_url) latest = { base_url, surface: describeRoutes(base_url) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Postrider',
      version: '1',
      description: INTRODUCTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: base_url }],
    security: [{ api_key: [] }],
    tags: sections,
    ...latest.surface,
  };
}

function describeRoutes(base_url: string): Surface {
  const schemas: Record<string, Json> = {};
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route, schemas, base_url) };
  }
  const error = schemaOf(errorSchema, 'output', schemas);
  const webhooks = Object.fromEntries(eventTypes.map((type) => [type, { post: postOf(type, schemas) }]));
  return {
    paths,
    webhooks,
    components: {
      securitySchemes: {
        api_key: { type: 'http', scheme: 'bearer', description: 'An API key, pr_live_… or pr_test_….' },
      },
      headers: knownHeaders,
      responses: Object.fromEntries(shared_codes.map((code) => [code, errorResponse(code, commonReasons, error)])),
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

type Schemas = Record<string, Json>;

function operationOf(route: Route, schemas: Schemas, base_url: string): Json {
  const { operation, operation_id, path, method, dry_run_operation, rate_class, status } = route;
  const input = schemaOf(operation.input, 'input', schemas);
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  const sends = sendsMail(route);
  const possible = [...new Set([...reasonsOf(route), ...(dry_run_operation?.reasons ?? [])])];
  const parameters = [
    ...inPath.map((name) => parameter('path', name, propertyOf(input, name), true)),
    ...(method === 'GET' ? queryParameters(input, inPath) : []),
    ...(dry_run_operation ? [dryRunParameter] : []),
    ...(sends ? [idempotencyParameter] : []),
  ];
  const body = method === 'GET' ? null : withoutFields(input, inPath);
  const headers: readonly HeaderName[] = [
    ...(sends ? ['Idempotent-Replayed' as const] : []),
    ...(body ? ['Postrider-Ignored-Fields' as const] : []),
  ];
  const windows = sends && rate_class !== 'send' ? `\`${rate_class}\` and \`send\`` : `\`${rate_class}\``;
  const scope = operation.scope === null ? 'Works with any valid key.' : `Requires the \`${operation.scope}\` scope.`;
  return {
    operationId: operation_id,
    summary: operation.summary,
    description: `${scope} Rate limit: ${windows}.`,
    tags: [tagOf(path)],
    security: [{ api_key: operation.scope === null ? [] : [operation.scope] }],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: body, ...exampleBody(operation_id) } } },
    }),
    'x-codeSamples': samplesOf(sampleRequest(route, input), base_url),
    responses: {
      [status]: response(operation, meanings[status], headers, schemas, (recorded_responses as Json)[operation_id]),
      ...(dry_run_operation && {
        200: response(dry_run_operation, 'The result of dry_run=true. Nothing is stored.', [], schemas),
      }),
      ...errorResponses(possible, schemas),
    },
  };
}

/** Returns the request that the route's samples send, with the examples of its path parameters. */
function sampleRequest({ operation_id, method, path }: Route, input: Json): SampleRequest {
  const { query = {}, body } = sample_inputs[operation_id] ?? {};
  const path_values: string[] = [];
  const sample_path = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const [value] = (propertyOf(input, name).examples ?? []) as readonly unknown[];
    if (typeof value !== 'string') throw new Error(`${path} has no example of ${name}`);
    path_values.push(value);
    return encodeURIComponent(value);
  });
  return { operation_id, tag: tagOf(path), method, path: sample_path, path_values, query, body };
}

function exampleBody(operation_id: string): Json {
  const { body } = sample_inputs[operation_id] ?? {};
  return body === undefined ? {} : { example: body };
}

function tagOf(path: string): string {
  return path.split('/')[1] ?? '';
}

/** Describes the request that a webhook endpoint receives for an event type. */
function postOf(type: EventType, schemas: Schemas): Json {
  const facts = schemaOf(eventCatalogue[type].facts, 'output', schemas);
  const is_empty = Object.keys(fieldsOf(facts)).length === 0;
  const properties = {
    type: { const: type, description: `Always \`${type}\`.` },
    data: { ...facts, description: is_empty ? 'No further fields.' : 'The fields specific to this event type.' },
  };
  const schema = { allOf: [schemaOf(eventSchema, 'output', schemas), { type: 'object', properties }] };
  return {
    operationId: `on_${type.replace(/\W/g, '_')}`,
    summary: eventCatalogue[type].summary.replace(/\.$/, ''),
    tags: ['webhooks'],
    security: [],
    parameters: signatureHeaders,
    requestBody: { required: true, content: { 'application/json': { schema, example: exampleEvent(type) } } },
    responses: {
      '2XX': { description: 'Received within 10 seconds.' },
      410: { description: 'Disables the webhook.' },
      default: { description: 'Retried later. A 429 or 503 can set Retry-After.' },
    },
  };
}

/** Header names follow Standard Webhooks. */
const signatureHeaders = [
  ['webhook-id', 'The event ID; the same for every retry.'],
  ['webhook-timestamp', 'When this request was signed, in Unix seconds.'],
  ['webhook-signature', 'v1 and the base64 HMAC-SHA256 of id.timestamp.body; two values after a rotation.'],
].map(([name, description]) => ({ name, in: 'header', required: true, description, schema: { type: 'string' } }));

const meanings: Record<Route['status'], string> = { 200: 'Done.', 201: 'Created.', 202: 'Accepted and committed.' };

function response(
  operation: Operation<z.ZodType, unknown>,
  description: string,
  headers: readonly HeaderName[],
  schemas: Schemas,
  example?: unknown,
): Json {
  const schema = schemaOf(operation.output, 'output', schemas);
  const content = { schema, ...(example !== undefined && { example }) };
  return { description, headers: headersOf(headers), content: { 'application/json': content } };
}

const headersForStatus: Partial<Record<ErrorCode, readonly HeaderName[]>> = {
  unauthorized: ['WWW-Authenticate'],
  rate_limited: ['Retry-After'],
};

// Every route adds a rate window of its own, so no route has only the common 429s.
const shared_codes = codesOf(commonReasons).filter((code) => code !== 'rate_limited');

/** Describes a route's errors by status. A status with only the common reasons refers to their component. */
function errorResponses(possible: readonly Reason[], schemas: Schemas): Json {
  return Object.fromEntries(
    codesOf(possible).map((code) => {
      const is_common = possible.every((reason) => codeOf(reason) !== code || commonReasons.includes(reason));
      const shared = { $ref: `#/components/responses/${code}` };
      return [
        httpStatus[code],
        is_common ? shared : errorResponse(code, possible, schemaOf(errorSchema, 'output', schemas)),
      ];
    }),
  );
}

function codesOf(reasons: readonly Reason[]): readonly ErrorCode[] {
  return errorCodes.filter((code) => reasons.some((reason) => codeOf(reason) === code));
}

function errorResponse(code: ErrorCode, possible: readonly Reason[], schema: Json): Json {
  const known = (Object.keys(reasons) as Reason[]).filter(
    (reason) => codeOf(reason) === code && possible.includes(reason),
  );
  return {
    description: known.map((reason) => `- \`${reason}\`: ${reasons[reason][1]}`).join('\n'),
    headers: headersOf(headersForStatus[code] ?? []),
    content: { 'application/json': { schema } },
  };
}

/** Converts a schema to JSON Schema. A schema with an ID in its metadata becomes a component. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', schemas: Schemas): Json {
  // Nested schemas with an ID also become references.
  const json = z.toJSONSchema(z.object({ it: schema }), { io, unrepresentable: 'any', override: tidy });
  const { $defs = {}, properties } = withComponentRefs(json);
  Object.assign(schemas, $defs);
  return fieldsOf({ properties }).it ?? {};
}

interface SchemaPair {
  readonly zodSchema: z.core.$ZodType;
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
}

function tidy({ zodSchema, jsonSchema }: SchemaPair): void {
  // zod assigns a transform's examples and default to its output, but ours describe the input.
  const { examples, default: absent } = z.globalRegistry.get(zodSchema) ?? {};
  if (Array.isArray(examples)) jsonSchema.examples = examples;
  if (absent !== undefined) jsonSchema.default = absent as typeof jsonSchema.default;
  // Responses may gain fields, so additional properties are allowed.
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (JSON.stringify(jsonSchema.propertyNames) === '{"type":"string"}') delete jsonSchema.propertyNames;
  // readOnly has no meaning in a JSON document.
  delete jsonSchema.readOnly;
  delete jsonSchema.id;
}

function withComponentRefs(json: z.core.JSONSchema.BaseSchema): Json {
  return JSON.parse(JSON.stringify(json).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

function fieldsOf(schema: Json): Readonly<Record<string, Json>> {
  // zod emits `properties` for every object schema.
  return (schema.properties ?? {}) as Readonly<Record<string, Json>>;
}

function requiredOf(schema: Json): readonly string[] {
  return (schema.required ?? []) as readonly string[];
}

function propertyOf(schema: Json, name: string): Json {
  return fieldsOf(schema)[name] ?? { type: 'string' };
}

function queryParameters(schema: Json, excluded: readonly string[]): Json[] {
  return Object.entries(fieldsOf(schema))
    .filter(([name]) => !excluded.includes(name))
    .map(([name, field]) => parameter('query', name, repeated(field), requiredOf(schema).includes(name)));
}

function parameter(place: 'path' | 'query', name: string, field: Json, required: boolean): Json {
  const { description, ...schema } = field;
  return { name, in: place, required, ...(description !== undefined && { description }), schema };
}

/**
 * Returns the list form of a query parameter's schema. A list in a query repeats the parameter's name, so a single
 * value and a one-element list are equivalent.
 */
function repeated({ anyOf, ...rest }: Json): Json {
  if (!Array.isArray(anyOf)) return anyOf === undefined ? rest : { ...rest, anyOf };
  const list = (anyOf as readonly Json[]).find(({ type }) => type === 'array');
  return list ? { ...rest, ...list } : { ...rest, anyOf };
}

/** Returns the body schema: the input without the path parameters, or null if nothing is left. */
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
  description: 'true: runs every check and renders the email without storing or sending it.',
  schema: { type: 'boolean', default: false },
};

const idempotencyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Makes retries safe for 24 hours: the same key and body return the first response again.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const knownHeaders = {
  'X-RateLimit-Limit': { description: 'Requests allowed in the window.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests left in the window.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'When the window resets, in Unix seconds.', schema: { type: 'integer' } },
  'X-Request-Id': { description: 'Identifies the request in logs and errors.', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string' } },
  'Postrider-Ignored-Fields': {
    description: 'Unknown body fields, comma-separated. Only present if there are any.',
    schema: { type: 'string' },
  },
  'Idempotent-Replayed': {
    description: 'true: the first response for this Idempotency-Key, replayed.',
    schema: { type: 'string', const: 'true' },
  },
};
type HeaderName = keyof typeof knownHeaders;

const common_headers = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-Request-Id'] as const;

function headersOf(names: readonly HeaderName[]): Json {
  return Object.fromEntries(
    [...common_headers, ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}
