// Writes the types and methods of packages/sdk from docs/openapi.json, so that no route is missing and no type is
// wrong. Run after docs:openapi.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { camelCase, pascalCase, sdkNames } from '@postrider/rest';

const sourceFile = fileURLToPath(new URL('../docs/openapi.json', import.meta.url));
const folder = fileURLToPath(new URL('../packages/sdk/src/generated', import.meta.url));
export const sdkFiles = {
  schemas: `${folder}/schemas.ts`,
  resources: `${folder}/resources.ts`,
  lists: `${folder}/lists.ts`,
};

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly description?: string;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Content {
  readonly content: { readonly 'application/json': { readonly schema: Schema } };
}

interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

export interface OpenApi {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: { readonly requestBody: Content } }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** One method of the client. */
export interface Method {
  readonly tag: string;
  readonly resource: string;
  readonly name: string;
  readonly http_method: string;
  readonly path: string;
  readonly dry_run: boolean;
  readonly operation: OperationObject;
}

/** The use of a schema: requests are checked strictly; responses may gain values. */
type Direction = 'input' | 'output';

// Names that the platform already uses for other types.
const renamed: Readonly<Record<string, string>> = { Error: 'ErrorAnswer', Event: 'EventBase' };

const HEAD = `// Written by \`node scripts/write-sdk.ts\` from docs/openapi.json.\n`;

export function readOpenApi(): OpenApi {
  return JSON.parse(readFileSync(sourceFile, 'utf8')) as OpenApi;
}

/** Returns every operation as a method: email_send is `email.send`, and `email.sendDryRun` if it has a dry run. */
export function methodsOf(document: OpenApi): Method[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([http_method, operation]): Method[] => {
      const tag = operation.tags[0] ?? '';
      const { resource, method: name } = sdkNames({ operation_id: operation.operationId, tag });
      const method = { tag, resource, http_method: http_method.toUpperCase(), path, operation };
      const has_dry_run = (operation.parameters ?? []).some((one) => one.name === 'dry_run');
      return [
        { ...method, name, dry_run: false },
        ...(has_dry_run ? [{ ...method, name: `${name}DryRun`, dry_run: true }] : []),
      ];
    }),
  );
}

/** The class name has a suffix, because a schema may have the bare name. */
const classOf = (tag: string) => `${pascalCase(tag)}Calls`;

function refName(ref: string): string {
  const name = ref.slice(ref.lastIndexOf('/') + 1);
  return renamed[name] ?? name;
}

const key = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
const comment = (text: string | undefined) =>
  text ? `/** ${text.replaceAll('*/', '* /').replace(/\s+/g, ' ')} */\n` : '';
const distinct = (texts: readonly string[]) => [...new Set(texts)].join(' | ');

function typeOf(schema: Schema, direction: Direction): string {
  if (schema.$ref) return refName(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) {
    const values = schema.enum.map((value) => JSON.stringify(value));
    // The added type keeps autocompletion of the known values.
    return distinct(direction === 'output' ? [...values, '(string & {})'] : values);
  }
  const union = schema.anyOf ?? schema.oneOf;
  if (union) return distinct(union.map((one) => typeOf(one, direction)));
  if (schema.allOf) return schema.allOf.map((one) => `(${typeOf(one, direction)})`).join(' & ');
  const kinds = schema.type === undefined ? [] : [schema.type].flat();
  if (kinds.length === 0) return schema.properties ? objectOf(schema, direction) : 'unknown';
  return distinct(kinds.map((kind) => kindType(kind, schema, direction)));
}

function kindType(kind: string, schema: Schema, direction: Direction): string {
  switch (kind) {
    case 'integer':
    case 'number':
      return 'number';
    case 'array': {
      const items = `(${typeOf(schema.items ?? {}, direction)})[]`;
      return direction === 'input' ? `readonly ${items}` : items;
    }
    case 'object':
      return objectOf(schema, direction);
    default:
      return kind;
  }
}

function objectOf(schema: Schema, direction: Direction): string {
  const { properties = {}, required = [], additionalProperties } = schema;
  const rest = additionalProperties === true ? {} : additionalProperties;
  const fields = Object.entries(properties).map(([name, field]) => {
    const optional = !required.includes(name);
    const type = typeOf(field, direction);
    const loose = optional && direction === 'input' ? ' | undefined' : '';
    return `${comment(field.description)}${direction === 'input' ? 'readonly ' : ''}${key(name)}${optional ? '?' : ''}: ${type}${loose};`;
  });
  if (fields.length === 0) return `Record<string, ${rest ? typeOf(rest, direction) : 'unknown'}>`;
  // Every field must fit the index signature, so additional fields have no narrower type.
  if (rest) fields.push('[fact: string]: unknown;');
  return `{\n${fields.join('\n')}\n}`;
}

/** Returns the components that only requests refer to. */
function inputComponents(document: OpenApi): Set<string> {
  const refsIn = (value: unknown): string[] =>
    [...JSON.stringify(value ?? null).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name ?? '');
  const reach = (start: readonly string[]) => {
    const visited = new Set<string>();
    const open = [...start];
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      if (visited.has(name)) continue;
      visited.add(name);
      open.push(...refsIn(document.components.schemas[name]));
    }
    return visited;
  };
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const response_names = reach(
    refsIn([operations.map(({ responses }) => responses), document.webhooks, ['#/components/schemas/Error']]),
  );
  const reachable = reach(refsIn(operations.map(({ parameters, requestBody }) => [parameters, requestBody])));
  return new Set([...reachable].filter((name) => !response_names.has(name)));
}

const success = ({ responses }: OperationObject, dry_run: boolean) => {
  const [status] = Object.keys(responses)
    .filter((one) => /^2/.test(one) && (!dry_run || one === '200'))
    .sort()
    .reverse();
  return responses[status ?? '']?.content['application/json'].schema ?? {};
};

/** Returns the entry schema of a list, or null if the response is not a list. */
function entryOf(schema: Schema): Schema | null {
  const { object, data, next_cursor } = schema.properties ?? {};
  return object?.const === 'list' && next_cursor && data?.items ? data.items : null;
}

const queryOf = ({ operation }: Method) =>
  (operation.parameters ?? []).filter((one) => one.in === 'query' && one.name !== 'dry_run');

/** Returns the type names for a method, or null if it needs no types. */
function namesOf(method: Method) {
  const stem = pascalCase(`${method.operation.operationId}${method.dry_run ? '_dry_run' : ''}`);
  const response = success(method.operation, method.dry_run);
  const entry = entryOf(response);
  const body = method.operation.requestBody?.content['application/json'].schema;
  const find = (schema: Schema | undefined, suffix: string) =>
    schema && (schema.$ref ? refName(schema.$ref) : `${stem}${suffix}`);
  return {
    answer: entry === null ? (find(response, 'Answer') ?? 'unknown') : null,
    entry: entry === null ? null : (find(entry, 'Entry') ?? 'unknown'),
    body: method.dry_run ? pascalBody(method) : (find(body, 'Body') ?? null),
    query: queryOf(method).length > 0 ? `${stem}Query` : null,
  };
}

const pascalBody = ({ operation }: Method) => {
  const schema = operation.requestBody?.content['application/json'].schema;
  if (!schema) return null;
  return schema.$ref ? refName(schema.$ref) : `${pascalCase(operation.operationId)}Body`;
};

function declare(name: string, schema: Schema, direction: Direction): string {
  const type = typeOf(schema, direction);
  const head = comment(schema.description);
  return type.startsWith('{\n')
    ? `${head}export interface ${name} ${type}\n`
    : `${head}export type ${name} = ${type};\n`;
}

export function schemasText(document: OpenApi): string {
  const strict = inputComponents(document);
  const components = Object.entries(document.components.schemas).map(([name, schema]) =>
    declare(renamed[name] ?? name, schema, strict.has(name) ? 'input' : 'output'),
  );
  const inline = methodsOf(document).flatMap((method) => {
    const { answer: response, entry, body, query } = namesOf(method);
    const success_schema = success(method.operation, method.dry_run);
    const sent = method.operation.requestBody?.content['application/json'].schema;
    const list_entry = entryOf(success_schema);
    return [
      ...(response !== null && !success_schema.$ref ? [declare(response, success_schema, 'output')] : []),
      ...(entry !== null && list_entry && !list_entry.$ref ? [declare(entry, list_entry, 'output')] : []),
      ...(body !== null && sent && !sent.$ref && !method.dry_run ? [declare(body, sent, 'input')] : []),
      ...(query !== null ? [declare(query, querySchema(method), 'input')] : []),
    ];
  });
  return `${HEAD}\n${[...components, ...inline, eventsText(document)].join('\n')}`;
}

/** Returns the query schema of a method. A repeatable parameter also accepts a single value. */
function querySchema(method: Method): Schema {
  const fields = queryOf(method).map(({ name, schema, description }): [string, Schema] => {
    const one = schema.type === 'array' && schema.items ? { anyOf: [schema.items, schema] } : schema;
    return [name, { ...one, ...(description !== undefined && { description }) }];
  });
  return { type: 'object', properties: Object.fromEntries(fields), required: [] };
}

function eventsText({ webhooks }: OpenApi): string {
  const lines = Object.entries(webhooks).map(([type, { post }]) => {
    const [, own] = post.requestBody.content['application/json'].schema.allOf ?? [];
    const { additionalProperties: _, ...data } = own?.properties?.data ?? {};
    return `${key(type)}: ${data.properties ? objectOf(data, 'output') : 'object'};`;
  });
  return `/** What each type of event adds to its data. */
export interface EventFacts {
${lines.join('\n')}
}

export type EventType = keyof EventFacts;

/** An event as it is posted to webhooks; \`type\` narrows its data. */
export type WebhookEvent = {
[T in EventType]: Omit<EventBase, 'type' | 'data'> & { type: T; data: EventBase['data'] & EventFacts[T] };
}[EventType];
`;
}

function methodText(method: Method): string {
  const { operation, http_method, path, name, dry_run } = method;
  const names = namesOf(method);
  const in_path = [...path.matchAll(/\{(\w+)\}/g)].map(([, one]) => one ?? '');
  const keyed = (operation.parameters ?? []).some((one) => one.name === 'Idempotency-Key') && !dry_run;
  const sent = operation.requestBody?.content['application/json'].schema;
  const optional = sent !== undefined && sent.type === 'object' && (sent.required ?? []).length === 0;
  const parameters = [
    ...in_path.map((one) => `${one}: string`),
    ...(names.body === null ? [] : [optional ? `body: ${names.body} = {}` : `body: ${names.body}`]),
    ...(names.query === null ? [] : [`query: ${names.query} = {}`]),
    `options?: ${keyed ? 'RepeatableOptions' : 'CallOptions'}`,
  ];
  const parts = path.split(/\{\w+\}/).map((part) => JSON.stringify(part));
  const fields = [
    `method: '${http_method}'`,
    `path: ${in_path.length > 0 ? `pathOf([${parts.join(', ')}], ${in_path.join(', ')})` : JSON.stringify(path)}`,
    ...(names.body === null ? [] : ['body']),
    ...(dry_run ? ['query: { dry_run: true }'] : names.query === null ? [] : ['query']),
    ...(keyed ? ['keyed: true'] : []),
  ];
  const description = dry_run
    ? `${operation.summary}: runs every check and renders the email without storing it.`
    : `${operation.summary}.`;
  const [returns, call] =
    names.entry === null ? [`Promise<${names.answer}>`, 'ask'] : [`ListCall<${names.entry}>`, 'list'];
  return `/** ${description} ${operation.description} */
${name}(${parameters.join(', ')}): ${returns} {
return this.#calls.${call}(() => ({ ${fields.join(', ')} }), options);
}
`;
}

export function resourcesText(document: OpenApi): string {
  const methods = methodsOf(document);
  const used = new Set<string>();
  const classes = document.tags.map(({ name, description }) => {
    const own = methods.filter(({ tag }) => tag === name);
    for (const method of own) for (const one of Object.values(namesOf(method))) if (one !== null) used.add(one);
    return `/** ${description} */
export class ${classOf(name)} {
readonly #calls: Calls;

constructor(calls: Calls) {
this.#calls = calls;
}

${own.map(methodText).join('\n')}}
`;
  });
  const types = [...used].filter((name) => /^[A-Z]/.test(name)).sort();
  const fields = document.tags.map(
    ({ name, description }) => `/** ${description} */\nreadonly ${camelCase(name)}: ${classOf(name)};`,
  );
  const lines = document.tags.map(({ name }) => `this.${camelCase(name)} = new ${classOf(name)}(calls);`);
  return `${HEAD}import type { ListCall } from '../pages.ts';
import { type CallOptions, type Calls, pathOf, type RepeatableOptions } from '../transport.ts';
import type {
${types.map((name) => `${name},`).join('\n')}
} from './schemas.ts';

${classes.join('\n')}
/** Every resource of /v1. */
export class Resources {
${fields.join('\n')}

constructor(calls: Calls) {
${lines.join('\n')}
}
}
`;
}

/** Returns the source code for lists of values that a program may offer as choices. */
function listsText({ webhooks, components }: OpenApi): string {
  const list = (name: string, description: string, values: readonly unknown[]) =>
    `/** ${description} */\nexport const ${name} = [\n${values.map((value) => `'${value}',`).join('\n')}\n] as const;\n`;
  return [
    HEAD,
    list('eventTypes', 'Every type of event.', Object.keys(webhooks)),
    list('scopes', 'Every scope of an API key.', components.schemas.Scope?.enum ?? []),
  ].join('\n');
}

/** Indents by brackets, as the formatter would. */
function indented(text: string): string {
  let depth = 0;
  return text
    .split('\n')
    .map((line) => {
      const code = line.replace(/\/\*\*.*\*\/|"(?:[^"\\]|\\.)*"|'[^']*'/g, '');
      const closing = /^[}\])]+/.exec(code)?.[0].length ?? 0;
      const indented_line = line === '' ? '' : '  '.repeat(Math.max(0, depth - closing)) + line;
      depth += (code.match(/[{[(]/g) ?? []).length - (code.match(/[}\])]/g) ?? []).length;
      return indented_line;
    })
    .join('\n');
}

export function sdkTexts(): Readonly<Record<keyof typeof sdkFiles, string>> {
  const document = readOpenApi();
  return {
    schemas: indented(schemasText(document)),
    resources: indented(resourcesText(document)),
    lists: indented(listsText(document)),
  };
}

if (import.meta.main) {
  mkdirSync(folder, { recursive: true });
  const texts = sdkTexts();
  writeFileSync(sdkFiles.schemas, texts.schemas);
  writeFileSync(sdkFiles.resources, texts.resources);
  writeFileSync(sdkFiles.lists, texts.lists);
}
