import { z } from 'zod';
import type { ErrorDetail } from './errors.ts';
import { pathText } from './path-text.ts';
import { likelyMeant } from './spelling.ts';

const MAX_NAMES_CHECKED = 100;

export interface UnexpectedNames {
  /** Misspelled and misplaced names. */
  readonly faults: readonly ErrorDetail[];
  /** Paths of all other names that match no field. */
  readonly ignored: readonly string[];
}

/** The fields of an object, or of each object of a list. */
interface Fields {
  readonly names: ReadonlySet<string>;
  readonly in_list: boolean;
  /** The schema itself rejects other names. */
  readonly strict: boolean;
  readonly nested: ReadonlyMap<string, Fields>;
}

interface ExpectedFields {
  readonly fields: Fields | null;
  readonly misplaced: Readonly<Record<string, string>>;
}

const NOTHING: UnexpectedNames = { faults: [], ignored: [] };
const expectations = new WeakMap<z.ZodType, ExpectedFields>();

/**
 * Rejects names in a schema's input that belong elsewhere; `misplaced` maps each name to a sentence that says where it
 * belongs.
 */
export function refuseMisplaced<S extends z.ZodType>(schema: S, misplaced: Readonly<Record<string, string>>): S {
  expectations.set(schema, { fields: fieldsOf(schema, false), misplaced });
  return schema;
}

/** Finds names in an input that its schema does not have, at any depth. */
export function unexpectedNames(schema: z.ZodType, raw: unknown): UnexpectedNames {
  const { fields, misplaced } = expected(schema);
  if (fields === null) return NOTHING;
  const result: NameReport = { faults: [], ignored: [], left: MAX_NAMES_CHECKED };
  collect(raw, fields, misplaced, [], result);
  return result;
}

/** Returns the names of a schema's top-level fields. */
export function fieldNames(schema: z.ZodType): readonly string[] {
  return [...(expected(schema).fields?.names ?? [])];
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function expected(schema: z.ZodType): ExpectedFields {
  let known = expectations.get(schema);
  if (!known) {
    known = { fields: fieldsOf(schema, false), misplaced: {} };
    expectations.set(schema, known);
  }
  return known;
}

interface NameReport {
  readonly faults: ErrorDetail[];
  readonly ignored: string[];
  left: number;
}

function collect(
  raw: unknown,
  fields: Fields,
  misplaced: ExpectedFields['misplaced'],
  path: readonly (string | number)[],
  result: NameReport,
): void {
  if (Array.isArray(raw)) {
    if (!fields.in_list) return;
    const each = { ...fields, in_list: false };
    for (const [index, value] of raw.entries()) collect(value, each, misplaced, [...path, index], result);
    return;
  }
  if (!isRecord(raw) || fields.in_list) return;
  for (const name of Object.keys(raw)) {
    if (!fields.names.has(name)) judge(name, fields, misplaced, path, result);
  }
  for (const [name, inner] of fields.nested) {
    if (raw[name] !== undefined) collect(raw[name], inner, {}, [...path, name], result);
  }
}

function judge(
  name: string,
  { names, strict }: Fields,
  misplaced: ExpectedFields['misplaced'],
  path: readonly (string | number)[],
  result: NameReport,
): void {
  if (result.left === 0) return;
  result.left -= 1;
  const param = pathText([...path, name]);
  const place = Object.hasOwn(misplaced, name) ? misplaced[name] : undefined;
  if (place !== undefined) {
    result.faults.push({ param, reason: 'misplaced_field', message: place });
    return;
  }
  const suggestion = likelyMeant(name, [...names]);
  if (suggestion !== null) {
    const message = `${param} is not a field; did you mean ${pathText([...path, suggestion])}?`;
    result.faults.push({ param, reason: 'misspelled_field', message });
  } else if (!strict) result.ignored.push(param);
}

/** Returns the fields a schema accepts; null if it accepts any names or is not an object. */
function fieldsOf(schema: z.core.$ZodType, in_list: boolean): Fields | null {
  if (schema instanceof z.ZodObject) {
    const { catchall } = schema.def;
    const strict = catchall instanceof z.ZodNever;
    if (catchall && !strict) return null;
    const shape = Object.entries(schema.shape);
    const nested = shape.flatMap(([name, field]): [string, Fields][] => {
      const inner = fieldsOf(field, false);
      return inner ? [[name, inner]] : [];
    });
    return { names: new Set(shape.map(([name]) => name)), in_list, strict, nested: new Map(nested) };
  }
  if (schema instanceof z.ZodArray) return fieldsOf(schema.element, true);
  if (schema instanceof z.ZodPipe) return fieldsOf(schema.in, in_list);
  if (schema instanceof z.ZodUnion) {
    const variants = schema.options.map((option) => fieldsOf(option, in_list)).filter((fields) => fields !== null);
    return variants.length === 1 ? (variants[0] ?? null) : null;
  }
  const wrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
  return wrapped ? fieldsOf(schema.unwrap(), in_list) : null;
}
