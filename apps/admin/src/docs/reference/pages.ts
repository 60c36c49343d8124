/** The parts of an OpenAPI document that are used here. A test validates docs/openapi.json as a whole. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly format?: string;
  readonly examples?: readonly unknown[];
  readonly description?: string;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Content {
  readonly description?: string;
  readonly content?: { readonly 'application/json': { readonly schema: Schema } };
}

interface OperationObject {
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

export interface OpenApi {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Renders the API reference as Markdown, with a section for each operation and schema. */
export function referenceMarkdown(document: OpenApi): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const sections = document.tags.map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    return [`## ${name}`, description, ...own.map((one) => operationText(one.method, one.path, one.operation))].join(
      '\n\n',
    );
  });
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => schemaText(name, schema));
  return [
    '# API reference',
    document.info.description,
    'Paths are below `/v1`. The same reference is available as an [OpenAPI 3.1 document](/v1/openapi.json), and [Try the API](/docs/try) sends\nrequests with your permissions.',
    ...sections,
    '## Schemas',
    ...schemas,
    '',
  ].join('\n\n');
}

function operationText(method: string, path: string, operation: OperationObject): string {
  const parameters = operation.parameters ?? [];
  const body = operation.requestBody?.content?.['application/json'].schema;
  const responses = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
  return [
    `### ${method} ${path}`,
    `${operation.summary}. ${operation.description} [Try it](/docs/try#${encodeURIComponent(`${method} ${path}`)})`,
    ...(parameters.length > 0
      ? [
          table(
            ['parameter', 'in', 'type', ''],
            parameters.map((one) => [
              code(one.name),
              one.in,
              typeOf(one.schema),
              noteOf(one.required, one.description ?? one.schema.description),
            ]),
          ),
        ]
      : []),
    ...(body ? ['**Body**', shapeOf(body)] : []),
    ...responses.flatMap(([status, { description = '', content }]) => [
      `**${status}** ${description}`,
      ...(content ? [shapeOf(content['application/json'].schema)] : []),
    ]),
  ].join('\n\n');
}

function schemaText(name: string, schema: Schema): string {
  return [`### ${name}`, ...(schema.description ? [schema.description] : []), shapeOf(schema)].join('\n\n');
}

/** Renders an object's fields as a table, and any other schema as its type. */
function shapeOf(schema: Schema): string {
  const { properties, required = [] } = schema;
  if (!properties) return typeOf(schema);
  return table(
    ['field', 'type', ''],
    Object.entries(properties).map(([name, field]) => [
      code(name),
      typeOf(field),
      noteOf(required.includes(name), field.description),
    ]),
  );
}

function typeOf(schema: Schema): string {
  if (schema.$ref) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
    return `[${name}](#${name.toLowerCase()})`;
  }
  if (schema.const !== undefined) return code(String(schema.const));
  if (schema.enum) return schema.enum.map((value) => code(String(value))).join(', ');
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  if (schema.allOf) return schema.allOf.map(typeOf).join(' and ');
  const kinds = schema.type === undefined ? ['anything'] : [schema.type].flat();
  return kinds
    .map((kind) => {
      if (kind === 'array') return `list of ${typeOf(schema.items ?? {})}`;
      if (kind === 'object' && schema.properties)
        return `object of ${Object.keys(schema.properties).map(code).join(', ')}`;
      return schema.format && kind === 'string' ? schema.format : kind;
    })
    .join(' or ');
}

const code = (text: string) => `\`${text}\``;
const noteOf = (required: boolean, description = '') =>
  [required ? 'required' : '', description].filter(Boolean).join('; ');

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replace(/\s+/g, ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
