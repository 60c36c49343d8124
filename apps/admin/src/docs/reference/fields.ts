import { type OpenApi, refName, type Schema } from './document.ts';

/** Only an input has fields that must be there; a response always has all of its fields. */
type Direction = 'input' | 'output';

const code = (text: string) => `\`${text}\``;

/** Describes a body by its type and fields. A component's fields are listed in place. */
export function bodyText({ components }: OpenApi, schema: Schema, direction: Direction): string {
  const name = refName(schema);
  const lines = fieldLines((name !== null && components.schemas[name]) || schema, direction, '');
  const is_named = name !== null || schema.type !== 'object';
  return [...(is_named ? [`${typeOf(schema)}`] : []), ...(lines.length > 0 ? [lines.join('\n')] : [])].join('\n\n');
}

/** Lists an object's fields, and those of the objects in them. Another schema is described by its type. */
export function fieldsText(schema: Schema, direction: Direction): string {
  const lines = fieldLines(schema, direction, '');
  return lines.length > 0 ? lines.join('\n') : typeOf(schema);
}

function fieldLines(schema: Schema, direction: Direction, indent: string): string[] {
  return objectsIn(schema).flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).flatMap(([name, field]) => [
      fieldLine({ name, schema: field, is_required: direction === 'input' && required.includes(name) }, indent),
      ...fieldLines(field, direction, `${indent}  `),
    ]),
  );
}

/** Returns a description as one line of Markdown, in which <…> is not a tag. */
export function escapeText(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('<', '&lt;');
}

/** Describes a field or parameter in one item of a list. */
export function fieldLine(
  { name, schema, is_required }: { readonly name: string; readonly schema: Schema; readonly is_required: boolean },
  indent = '',
): string {
  const description = escapeText(schema.description ?? '');
  const requirement = is_required ? ', required' : '';
  const default_text = ['string', 'number', 'boolean'].includes(typeof schema.default)
    ? `, default ${code(String(schema.default))}`
    : '';
  return `${indent}- ${code(name)} *${typeOf(schema)}${requirement}${default_text}*${description === '' ? '' : `: ${description}`}`;
}

/** Returns the objects that a schema describes in place: itself, a list's entries or alternatives. */
function objectsIn(schema: Schema): Schema[] {
  if (schema.properties) return [schema];
  return [...(schema.items ? [schema.items] : []), ...(schema.anyOf ?? [])].flatMap(objectsIn);
}

export function typeOf(schema: Schema): string {
  const name = refName(schema);
  if (name !== null) return `[${name}](/docs/api/objects#${name.toLowerCase()})`;
  if (schema.const !== undefined) return code(String(schema.const));
  if (schema.enum) return schema.enum.map((value) => code(String(value))).join(', ');
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  if (schema.allOf) return schema.allOf.map(typeOf).join(' and ');
  const kinds = schema.type === undefined ? ['anything'] : [schema.type].flat();
  return kinds
    .map((kind) => {
      if (kind === 'array') return `list of ${typeOf(schema.items ?? {})}`;
      return schema.format && kind === 'string' ? schema.format : kind;
    })
    .join(' or ');
}
