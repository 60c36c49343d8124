type Json = Readonly<Record<string, unknown>>;

/** Clients write requests and the service reads them; responses go the other way. */
type Direction = 'request' | 'answer';

/** Documentation keywords of a schema, which do not restrict its values. */
const annotations = new Set(['description', 'examples', 'example', 'title', 'deprecated', 'id', '$comment']);
/** Keywords that have comparison rules of their own. */
const structure = new Set([
  '$ref',
  'type',
  'enum',
  'const',
  'anyOf',
  'oneOf',
  'properties',
  'required',
  'items',
  'additionalProperties',
  'propertyNames',
  'default',
]);
const upperLimits = new Set(['maxLength', 'maxItems', 'maxProperties', 'maximum', 'exclusiveMaximum']);
const lowerLimits = new Set(['minLength', 'minItems', 'minProperties', 'minimum', 'exclusiveMinimum']);
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/**
 * Returns the breaking changes between two OpenAPI documents. Clients are assumed to ignore unknown response fields and
 * to expect new enum values in responses.
 */
export function breakingChanges(before: Json, after: Json): string[] {
  const breaks: string[] = [];
  const old_doc = openDocument(before);
  const new_doc = openDocument(after);
  for (const [path, old_path] of entriesOf(before.paths)) {
    const new_path = record(record(after.paths)[path]);
    for (const method of methods.filter((name) => name in old_path)) {
      const location = `${method.toUpperCase()} ${path}`;
      const [old_operation, new_operation] = [record(old_path[method]), new_path[method]];
      if (new_operation === undefined) breaks.push(`${location} is gone`);
      else breaks.push(...operationBreaks(location, { old_doc, new_doc }, old_operation, record(new_operation)));
    }
  }
  return breaks;
}

interface Documents {
  readonly old_doc: OpenDocument;
  readonly new_doc: OpenDocument;
}

interface OpenDocument {
  readonly root: Json;
  /** Returns the value with a $ref resolved. */
  resolve(value: unknown): Json;
}

function openDocument(root: Json): OpenDocument {
  const resolve = (value: unknown): Json => {
    const { $ref, ...siblings } = record(value);
    if (typeof $ref !== 'string') return siblings;
    const target = $ref
      .replace(/^#\//, '')
      .split('/')
      .reduce<unknown>((at, part) => record(at)[part], root);
    return { ...resolve(target), ...siblings };
  };
  return { root, resolve };
}

function operationBreaks(location: string, docs: Documents, old_operation: Json, new_operation: Json): string[] {
  const changed_name =
    old_operation.operationId !== new_operation.operationId
      ? [`${location}: operationId was ${text(old_operation.operationId)}, is ${text(new_operation.operationId)}`]
      : [];
  return [
    ...changed_name,
    ...securityBreaks(location, docs, old_operation, new_operation),
    ...parameterBreaks(location, docs, old_operation, new_operation),
    ...bodyBreaks(location, docs, old_operation, new_operation),
    ...answerBreaks(location, docs, old_operation, new_operation),
  ];
}

/**
 * Returns the breaking changes in the security of an operation. Each old alternative must remain valid: at least one
 * new alternative must not require anything beyond it.
 */
function securityBreaks(
  location: string,
  { old_doc, new_doc }: Documents,
  old_operation: Json,
  new_operation: Json,
): string[] {
  const old_schemes = listOf(old_operation.security ?? old_doc.root.security ?? [{}]);
  const new_schemes = listOf(new_operation.security ?? new_doc.root.security ?? [{}]);
  const suffices = (schemes: unknown, required: unknown) =>
    entriesOf(required, listOf).every(([scheme, scopes]) => {
      const granted = record(schemes)[scheme];
      return granted !== undefined && scopes.every((scope) => listOf(granted).includes(scope));
    });
  return (old_schemes.length === 0 ? [{}] : old_schemes)
    .filter((scheme) => new_schemes.length > 0 && !new_schemes.some((new_scheme) => suffices(scheme, new_scheme)))
    .map(
      (scheme) => `${location}: ${text(scheme)} is no longer enough; it wants ${new_schemes.map(text).join(' or ')}`,
    );
}

function parameterBreaks(location: string, docs: Documents, old_operation: Json, new_operation: Json): string[] {
  const byName = (doc: OpenDocument, operation: Json) =>
    new Map(listOf(operation.parameters).map((one) => [parameterName(doc.resolve(one)), doc.resolve(one)]));
  const [old_items, new_items] = [byName(docs.old_doc, old_operation), byName(docs.new_doc, new_operation)];
  const changed = [...old_items].flatMap(([name, old_parameter]) => {
    const new_parameter = new_items.get(name);
    if (!new_parameter) return [`${location}: ${name} is gone`];
    const stricter = new_parameter.required === true && old_parameter.required !== true;
    return [
      ...(stricter ? [`${location}: ${name} is now required`] : []),
      ...schemaBreaks(`${location}: ${name}`, 'request', docs, old_parameter.schema, new_parameter.schema),
    ];
  });
  const added = [...new_items]
    .filter(([name, one]) => one.required === true && !old_items.has(name))
    .map(([name]) => `${location}: ${name} is new and required`);
  return [...changed, ...added];
}

function parameterName(parameter: Json): string {
  return `${text(parameter.in)} parameter ${text(parameter.name)}`;
}

function bodyBreaks(location: string, docs: Documents, old_operation: Json, new_operation: Json): string[] {
  const place = `${location}: body`;
  const old_body = old_operation.requestBody === undefined ? null : docs.old_doc.resolve(old_operation.requestBody);
  const new_body = new_operation.requestBody === undefined ? null : docs.new_doc.resolve(new_operation.requestBody);
  if (old_body && !new_body) return [`${place} is no longer read`];
  const stricter = new_body?.required === true && old_body?.required !== true ? [`${place} is now required`] : [];
  return [...stricter, ...contentBreaks(place, 'request', docs, old_body ?? {}, new_body ?? {})];
}

function answerBreaks(location: string, docs: Documents, old_operation: Json, new_operation: Json): string[] {
  return Object.entries(record(old_operation.responses)).flatMap(([status, old_answer]) => {
    const place = `${location}: ${status}`;
    const new_answer = record(new_operation.responses)[status];
    // Removing an error breaks no client; removing a success does.
    if (new_answer === undefined) return status.startsWith('2') ? [`${place} is gone`] : [];
    const [old_parts, new_parts] = [docs.old_doc.resolve(old_answer), docs.new_doc.resolve(new_answer)];
    const lost = Object.keys(record(old_parts.headers)).filter((name) => !(name in record(new_parts.headers)));
    return [
      ...lost.map((name) => `${place} header ${name} is gone`),
      ...contentBreaks(place, 'answer', docs, old_parts, new_parts),
    ];
  });
}

function contentBreaks(
  place: string,
  direction: Direction,
  docs: Documents,
  old_items: Json,
  new_items: Json,
): string[] {
  return entriesOf(old_items.content).flatMap(([media_type, old_content]) => {
    const new_content = record(new_items.content)[media_type];
    if (new_content === undefined) return [`${place} ${media_type} is gone`];
    return schemaBreaks(place, direction, docs, old_content.schema, record(new_content).schema);
  });
}

function schemaBreaks(
  place: string,
  direction: Direction,
  docs: Documents,
  old_schema: unknown,
  new_schema: unknown,
): string[] {
  const compare = comparison(direction, docs);
  return [...new Set(compare(place, old_schema ?? {}, new_schema ?? {}))];
}

type Compare = (place: string, old_schema: unknown, new_schema: unknown) => string[];

function comparison(direction: Direction, { old_doc, new_doc }: Documents): Compare {
  // A recursive schema is compared only once.
  const under_way = new Set<string>();
  const compare: Compare = (place, old_schema, new_schema) => {
    const pair = text([refsOf(old_schema), refsOf(new_schema)]);
    if (pair !== '[[],[]]' && under_way.has(pair)) return [];
    under_way.add(pair);
    const old_items = alternativesOf(old_doc, old_schema);
    const new_items = alternativesOf(new_doc, new_schema);
    const breaks = alternativeBreaks(place, old_items, new_items);
    under_way.delete(pair);
    return breaks;
  };

  function alternativeBreaks(place: string, old_items: readonly Json[], new_items: readonly Json[]): string[] {
    const [sole_old, sole_new] = [old_items[0], new_items[0]];
    if (old_items.length === 1 && new_items.length === 1 && sole_old && sole_new)
      return oneToOne(place, sole_old, sole_new);
    // The reader must handle every value that may arrive.
    const sent = direction === 'request' ? old_items : new_items;
    const understood = direction === 'request' ? new_items : old_items;
    return sent.flatMap((one) => {
      const breaks = understood.map((other) =>
        direction === 'request' ? oneToOne(place, one, other) : oneToOne(place, other, one),
      );
      if (breaks.some((list) => list.length === 0)) return [];
      const [closest] = breaks
        .filter((_, index) => kindOf(understood[index] ?? {}) === kindOf(one))
        .sort((first, second) => first.length - second.length);
      if (closest) return closest;
      return [
        direction === 'request' ? `${place} may no longer be ${kindOf(one)}` : `${place} may now be ${kindOf(one)}`,
      ];
    });
  }

  function oneToOne(place: string, old_schema: Json, new_schema: Json): string[] {
    const [sent, understood] = direction === 'request' ? [old_schema, new_schema] : [new_schema, old_schema];
    const fits =
      understood.type === undefined ||
      understood.type === sent.type ||
      (understood.type === 'number' && sent.type === 'integer');
    if (!fits) return [`${place} was ${kindOf(old_schema)}, is ${kindOf(new_schema)}`];
    return [
      ...valueBreaks(place, old_schema, new_schema),
      ...keywordBreaks(place, old_schema, new_schema),
      ...fieldBreaks(place, old_schema, new_schema),
      ...innerBreaks(place, old_schema, new_schema),
    ];
  }

  function valueBreaks(place: string, old_schema: Json, new_schema: Json): string[] {
    const [old_items, new_items] = [valuesOf(old_schema), valuesOf(new_schema)];
    if (new_items === null) return [];
    if (direction === 'answer') {
      const none_left = old_items !== null && !old_items.some((value) => new_items.includes(value));
      return none_left ? [`${place} was ${old_items.map(text).join(', ')}, is ${new_items.map(text).join(', ')}`] : [];
    }
    if (old_items === null) return [`${place} may now only be ${new_items.map(text).join(', ')}`];
    return old_items
      .filter((value) => !new_items.includes(value))
      .map((value) => `${place} may no longer be ${text(value)}`);
  }

  function keywordBreaks(place: string, old_schema: Json, new_schema: Json): string[] {
    const keywords = new Set([...Object.keys(old_schema), ...Object.keys(new_schema)]);
    const [sent, understood] = direction === 'request' ? [old_schema, new_schema] : [new_schema, old_schema];
    const changed = [...keywords].filter(
      (keyword) => !annotations.has(keyword) && !structure.has(keyword) && exceeds(keyword, sent, understood),
    );
    // A request without a field means its default, so changing the default is a breaking change.
    if (direction === 'request' && 'default' in old_schema && text(old_schema.default) !== text(new_schema.default))
      changed.push('default');
    return changed.map(
      (keyword) => `${place} ${keyword} was ${text(old_schema[keyword])}, is ${text(new_schema[keyword])}`,
    );
  }

  function fieldBreaks(place: string, old_schema: Json, new_schema: Json): string[] {
    const [old_items, new_items] = [record(old_schema.properties), record(new_schema.properties)];
    const [old_required, new_required] = [listOf(old_schema.required), listOf(new_schema.required)];
    const changed = Object.entries(old_items).flatMap(([name, old_field]) =>
      name in new_items ? compare(`${place}.${name}`, old_field, new_items[name]) : [`${place}.${name} is gone`],
    );
    if (direction === 'request') {
      const stricter = new_required.filter((name) => !old_required.includes(name));
      return [...changed, ...stricter.map((name) => `${place}.${name} is now required`)];
    }
    const looser = old_required.filter((name) => !new_required.includes(name) && text(name) in new_items);
    return [...changed, ...looser.map((name) => `${place}.${name} may now be absent`)];
  }

  function innerBreaks(place: string, old_schema: Json, new_schema: Json): string[] {
    return [
      ...(eitherHas('items', old_schema, new_schema)
        ? compare(`${place}[]`, old_schema.items ?? {}, new_schema.items ?? {})
        : []),
      ...(eitherHas('propertyNames', old_schema, new_schema)
        ? compare(`${place}'s names`, old_schema.propertyNames ?? {}, new_schema.propertyNames ?? {})
        : []),
      ...(eitherHas('additionalProperties', old_schema, new_schema)
        ? otherFieldBreaks(place, old_schema.additionalProperties ?? {}, new_schema.additionalProperties ?? {})
        : []),
    ];
  }

  function otherFieldBreaks(place: string, old_others: unknown, new_others: unknown): string[] {
    // Clients ignore unknown fields, so a response schema may become open; a request schema may not become closed.
    if (new_others === false) {
      return direction === 'request' && old_others !== false ? [`${place} may no longer have other fields`] : [];
    }
    return old_others === false ? [] : compare(`${place}.*`, old_others, new_others);
  }

  return compare;
}

/** Returns whether the writer may send more than the reader accepts, judged by one keyword. */
function exceeds(keyword: string, sent: Json, understood: Json): boolean {
  const [sent_value, known] = [sent[keyword], understood[keyword]];
  if (known === undefined) return false;
  if (typeof sent_value === 'number' && typeof known === 'number') {
    if (upperLimits.has(keyword)) return sent_value > known;
    if (lowerLimits.has(keyword)) return sent_value < known;
  }
  return text(sent_value) !== text(known);
}

/** Returns a schema's own references and those of its alternatives. */
function refsOf(schema: unknown): unknown[] {
  const { $ref, anyOf, oneOf } = record(schema);
  return [...($ref === undefined ? [] : [$ref]), ...listOf(anyOf ?? oneOf).flatMap(refsOf)];
}

/** Returns a schema as a list of alternatives, each with at most one type. */
function alternativesOf(doc: OpenDocument, schema: unknown): Json[] {
  const { anyOf, oneOf, ...rest } = doc.resolve(schema === true ? {} : schema);
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) {
    return listOf(choices).flatMap((choice) => alternativesOf(doc, { ...rest, ...doc.resolve(choice) }));
  }
  return Array.isArray(rest.type) ? rest.type.map((type: unknown) => ({ ...rest, type })) : [rest];
}

function valuesOf(schema: Json): readonly unknown[] | null {
  if ('const' in schema) return [schema.const];
  return 'enum' in schema ? listOf(schema.enum) : null;
}

function kindOf(schema: Json): string {
  return 'const' in schema ? text(schema.const) : text(schema.type ?? 'anything');
}

function eitherHas(keyword: string, ...schemas: readonly Json[]): boolean {
  return schemas.some((schema) => keyword in schema);
}

function record(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function entriesOf(value: unknown): [string, Json][];
function entriesOf<T>(value: unknown, read: (value: unknown) => T): [string, T][];
function entriesOf(value: unknown, read: (value: unknown) => unknown = record): [string, unknown][] {
  return Object.entries(record(value)).map(([name, inner]) => [name, read(inner)]);
}

function text(value: unknown): string {
  if (value === undefined) return 'absent';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
