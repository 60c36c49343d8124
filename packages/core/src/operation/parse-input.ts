import type { z } from 'zod';
import { type AppError, type ErrorDetail, type Reason, reasons, refuseFields } from './errors.ts';
import { pathText } from './path-text.ts';
import { refusalWords } from './refusal-words.ts';
import { isRecord, unexpectedNames } from './unexpected-names.ts';

/** `ignored` lists the input fields that have no effect. */
type Result<T> = ({ readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: AppError }) & {
  readonly ignored: readonly string[];
};

const MAX_DEPTH = 32;
// A batch of full-size messages has fewer values than this. Larger bodies are rejected, because listing every invalid
// value would amplify an attack.
const MAX_VALUES = 50_000;
const MAX_DETAILS = 100;

/** Builds a schema issue with one of our reasons: `context.addIssue(issueFor('invalid_email', '…'))`. */
export function issueFor(reason: Reason, message: string, path: (string | number)[] = []) {
  return { code: 'custom' as const, message, params: { reason }, path };
}

/**
 * Parses input with a schema; every issue becomes a reason, a path such as to[3], and a message. Faults found earlier
 * are listed first.
 */
export function parseInput<I extends z.ZodType>(
  schema: I,
  raw: unknown,
  details: readonly ErrorDetail[] = [],
): Result<z.output<I>> {
  const hostile = hostileValue(raw, 0, { left: MAX_VALUES });
  if (hostile) {
    const param = pathText(hostile.path);
    return refuse([{ param, reason: 'invalid_type', message: hostile.message(param || 'The body') }]);
  }
  const { faults, ignored } = unexpectedNames(schema, raw);
  const parsed = schema.safeParse(raw, { reportInput: true, error: refusalWords });
  if (parsed.success && faults.length === 0 && details.length === 0) return { ok: true, value: parsed.data, ignored };
  const names = new Set(faults.map(({ param }) => param));
  const issues = parsed.error?.issues.flatMap((issue) => withoutNames(issue, names)).slice(0, MAX_DETAILS) ?? [];
  return refuse([...details, ...faults, ...issues.map((issue) => detailOf(issue, raw))], ignored);
}

/** Reduces an issue about unknown names to the names that no fault explains. */
function withoutNames(issue: z.core.$ZodIssue, names: ReadonlySet<string>): z.core.$ZodIssue[] {
  if (issue.code !== 'unrecognized_keys') return [issue];
  const keys = issue.keys.filter((key) => !names.has(pathText([...issue.path, key])));
  return keys.length === 0 ? [] : [{ ...issue, keys }];
}

function refuse(details: readonly ErrorDetail[], ignored: readonly string[] = []): Result<never> {
  const [first, ...rest] = details;
  if (!first) throw new Error('an input was refused without a reason');
  return { ok: false, error: refuseFields([first, ...rest]), ignored };
}

interface Hostile {
  readonly path: (string | number)[];
  message(param: string): string;
}

/**
 * Finds input that must not reach a store or parser: NUL, lone surrogates, __proto__ keys, excessive size or nesting.
 */
function hostileValue(value: unknown, depth: number, budget: { left: number }): Hostile | null {
  if (typeof value === 'string') return hostileText(value);
  if (typeof value !== 'object' || value === null) return null;
  if (depth >= MAX_DEPTH) return { path: [], message: () => `The body is nested deeper than ${MAX_DEPTH} levels.` };
  const names = Array.isArray(value) ? null : Object.keys(value);
  const values: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (let index = 0; index < values.length; index++) {
    budget.left -= 1;
    if (budget.left < 0) return { path: [], message: () => `The body has more than ${MAX_VALUES} values.` };
    const name = names?.[index] ?? index;
    if (name === '__proto__') return { path: [name], message: () => '__proto__ is not allowed as a name.' };
    const hostile =
      (typeof name === 'string' ? hostileText(name) : null) ?? hostileValue(values[index], depth + 1, budget);
    if (hostile) return { ...hostile, path: [name, ...hostile.path] };
  }
  return null;
}

function hostileText(text: string): Hostile | null {
  if (text.includes('\0')) return { path: [], message: (param) => `${param} contains a NUL character; remove it.` };
  if (text.isWellFormed()) return null;
  return { path: [], message: (param) => `${param} contains a lone surrogate; send valid Unicode.` };
}

function detailOf(issue: z.core.$ZodIssue, raw: unknown): ErrorDetail {
  const param = pathText(issue.path);
  if (issue.code === 'custom') {
    const reason: unknown = issue.params?.reason;
    if (typeof reason === 'string' && reason in reasons)
      return { param, reason: reason as Reason, message: issue.message };
  }
  if (isAbsent(raw, issue.path))
    return { param, reason: 'missing_field', message: `${param || 'The body'} is required; add it.` };
  const subject = param || 'The body';
  const message = issue.message.startsWith(`${subject} `) ? issue.message : `${subject} ${issue.message}`;
  return { param, reason: 'invalid_type', message: message.endsWith('.') ? message : `${message}.` };
}

function isAbsent(raw: unknown, path: readonly PropertyKey[]): boolean {
  let value: unknown = raw;
  for (const part of path) value = isRecord(value) || Array.isArray(value) ? Reflect.get(value, part) : undefined;
  return value === undefined;
}
