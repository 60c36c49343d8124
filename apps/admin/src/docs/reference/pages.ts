import { anchorOf } from '../anchor.ts';
import { type OpenApi, type Operation, operationsOf } from './document.ts';
import { type CommonErrors, commonErrors, errorList, errorsOf } from './errors.ts';
import { bodyText, fieldLine, fieldsText } from './fields.ts';

export interface ReferencePage {
  readonly name: string;
  readonly markdown: string;
}

/** Renders the API reference as Markdown: an overview, a page for each resource, and one for the objects. */
export function referencePages(document: OpenApi): ReferencePage[] {
  const operations = operationsOf(document);
  const common = commonErrors(document, operations);
  return [
    { name: 'api', markdown: overviewText(document, operations, common) },
    ...document.tags.map((tag) => ({
      name: `api/${tag.name}`,
      markdown: joined([
        `# ${tag['x-displayName']}`,
        tag.description,
        ...operationsIn(tag.name, operations).map((operation) => operationText(document, operation, common)),
      ]),
    })),
    { name: 'api/objects', markdown: objectsText(document) },
  ];
}

function overviewText(document: OpenApi, operations: readonly Operation[], common: CommonErrors): string {
  const resources = document.tags.flatMap((tag) => [
    `### [${tag['x-displayName']}](/docs/api/${tag.name})`,
    tag.description,
    operationsIn(tag.name, operations)
      .map(({ name, summary }) => {
        const anchor = anchorOf(name);
        return `- <a id="${anchor}"></a>[\`${name}\`](/docs/api/${tag.name}#${anchor}): ${summary}`;
      })
      .join('\n'),
  ]);
  return joined([
    '# API reference',
    document.info.description,
    'Paths are below `/v1`. The same reference is available as an [OpenAPI 3.1 document](/v1/openapi.json), and [Try the API](/docs/try) sends\nrequests with your permissions. The samples need an API key in `POSTRIDER_API_KEY`; those in TypeScript use the\n[client](/docs/sdk), which also reads `POSTRIDER_URL`.',
    '## Operations',
    ...resources,
    '## Pagination',
    'Lists return their newest entries first, `limit` of them (1 to 100, by default 20). If `has_more` is true, pass `next_cursor` as\n`cursor`, with the same filters, to get the next page. The clients for TypeScript and the command line do this for you.',
    '## Errors',
    'An error has a [body with the reason](/docs/api/objects#error), and its `docs_url` leads to what to do. The operations list\ntheir own errors. Any request can return these:',
    errorList(common.every_request),
    'Requests with a body can also return these:',
    errorList(common.with_body),
  ]);
}

function operationText(document: OpenApi, operation: Operation, common: CommonErrors): string {
  const { name, summary, description, parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content?.['application/json'].schema;
  const successes = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    // A dry run's 200 follows.
    .toReversed();
  const common_reasons = [...common.every_request, ...common.with_body].map(({ reason }) => reason);
  const own_errors = errorsOf(document, operation).filter(({ reason }) => !common_reasons.includes(reason));
  return joined([
    `## ${name}`,
    '<div class="operation"><div>',
    `${summary}. ${description} [Try it](/docs/try#${encodeURIComponent(name)})`,
    ...(parameters.length > 0
      ? [
          '**Parameters**',
          parameters
            .map(({ name: parameter, schema, required, description: text }) =>
              fieldLine({
                name: parameter,
                schema: { ...schema, ...(text !== undefined && { description: text }) },
                is_required: required,
              }),
            )
            .join('\n'),
        ]
      : []),
    ...(body ? ['**Body**', bodyText(document, body, 'input')] : []),
    ...successes.flatMap(([status, { description: text = '', content }]) => [
      `**${status}** ${text}`,
      ...(content
        ? [
            '<details><summary>Fields of the response</summary>',
            bodyText(document, content['application/json'].schema, 'output'),
            '</details>',
          ]
        : []),
    ]),
    '**Errors**, beyond [those of every request](/docs/api#errors)',
    errorList(own_errors),
    '</div><div class="samples">',
    ...operation['x-codeSamples'].map(({ lang, source }) => fenced(lang, source)),
    ...successes.flatMap(([, { content }]) => {
      const example = content?.['application/json'].example;
      return example === undefined ? [] : ['Response', fenced('json', JSON.stringify(example, null, 2))];
    }),
    '</div></div>',
  ]).trimEnd();
}

function objectsText(document: OpenApi): string {
  const objects = Object.entries(document.components.schemas).flatMap(([name, schema]) => [
    `## ${name}`,
    ...(schema.description ? [schema.description] : []),
    fieldsText(schema, 'output'),
  ]);
  return joined(['# API objects', 'The objects that several operations take or return, by name.', ...objects]);
}

function operationsIn(tag: string, operations: readonly Operation[]): Operation[] {
  return operations.filter(({ tags }) => tags.includes(tag));
}

function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

function joined(blocks: readonly string[]): string {
  return `${blocks.join('\n\n')}\n`;
}
