import { z } from 'zod';
import { type AppError, type ErrorDetail, type Reason, reasons, refuseFields } from './errors.ts';
import { refusalWords } from './refusal-words.ts';
import { likelyMeant } from './spelling.ts';

type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: AppError };

const DEEPEST = 32;
// A batch of full messages stays below this. Listing every bad value beyond it would amplify an attack.
const MOST_VALUES = 50_000;
const MOST_DETAILS = 100;
const MOST_NAMES_JUDGED = 100;
const LONGEST_NAME_SHOWN = 100;

/** A schema issue with one of our reasons: `context.addIssue(issueFor('invalid_email', '…'))`. */
export function issueFor(reason: Reason, message: string, path: (string | number)[] = []) {
  return { code: 'custom' as const, message, params: { reason }, path };
}

/** Parses with a schema; every issue becomes a reason, a path such as to[3] and a message. */
export function parseInput<I extends z.ZodType>(schema: I, raw: unknown): Result<z.output<I>> {
  const hostile = hostileValue(raw, 0, { left: MOST_VALUES });
  if (hostile) {
    const param = pathText(hostile.path);
    return refuse([{ param, reason: 'invalid_type', message: hostile.message(param || 'The body') }]);
  }
  const details =
    schema instanceof z.ZodObject && isRecord(raw) ? misspelledFields(Object.keys(schema.shape), raw) : [];
  const parsed = schema.safeParse(raw, { reportInput: true, error: refusalWords });
  if (parsed.success && details.length === 0) return { ok: true, value: parsed.data };
  const issues = parsed.error?.issues.slice(0, MOST_DETAILS) ?? [];
  return refuse([...details, ...issues.map((issue) => detailOf(issue, raw))]);
}

function refuse(details: ErrorDetail[]): { readonly ok: false; readonly error: AppError } {
  const [first, ...rest] = details;
  if (!first) throw new Error('an input was refused without a reason');
  return { ok: false, error: refuseFields([first, ...rest]) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function misspelledFields(known: readonly string[], raw: Record<string, unknown>): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  const unknown = Object.keys(raw).filter((name) => !known.includes(name));
  for (const name of unknown.slice(0, MOST_NAMES_JUDGED)) {
    const meant = likelyMeant(name, known);
    if (meant && !(meant in raw))
      details.push({
        param: name,
        reason: 'misspelled_field',
        message: `${name} is not a field; did you mean ${meant}?`,
      });
  }
  return details;
}

interface Hostile {
  readonly path: (string | number)[];
  message(param: string): string;
}

/** Finds input that no store or parser should see: NUL, lone surrogates, __proto__ keys, excessive size or nesting. */
function hostileValue(value: unknown, depth: number, budget: { left: number }): Hostile | null {
  if (typeof value === 'string') return hostileText(value);
  if (typeof value !== 'object' || value === null) return null;
  if (depth >= DEEPEST) return { path: [], message: () => `The body is nested deeper than ${DEEPEST} levels.` };
  const entries: Iterable<[string | number, unknown]> = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [name, inner] of entries) {
    budget.left -= 1;
    if (budget.left < 0) return { path: [], message: () => `The body holds more than ${MOST_VALUES} values.` };
    if (name === '__proto__') return { path: [name], message: () => '__proto__ is not allowed as a name.' };
    const found = (typeof name === 'string' ? hostileText(name) : null) ?? hostileValue(inner, depth + 1, budget);
    if (found) return { ...found, path: [name, ...found.path] };
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

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    const name = String(part).slice(0, LONGEST_NAME_SHOWN).toWellFormed();
    return text === '' ? name : `${text}.${name}`;
  }, '');
}
