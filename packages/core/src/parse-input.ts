import { z } from 'zod';
import { type AppError, type ErrorDetail, type Reason, reasons, refuseFields } from './errors.ts';
import { likelyMeant } from './spelling.ts';

type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: AppError };

const DEEPEST = 32;

/** Attaches a registry reason to a schema's refusal: `context.addIssue(issueFor('invalid_email', '…'))`. */
export function issueFor(reason: Reason, message: string, path: (string | number)[] = []) {
  return { code: 'custom' as const, message, params: { reason }, path };
}

/** Parses with a schema and turns every problem into a reason, a path such as to[3], and a message. */
export function parseInput<I extends z.ZodType>(schema: I, raw: unknown): Result<z.output<I>> {
  const hostile = hostileValue(raw, '', 0);
  if (hostile) return refuse([hostile]);
  const details =
    schema instanceof z.ZodObject && isRecord(raw) ? misspelledFields(Object.keys(schema.shape), raw) : [];
  const parsed = schema.safeParse(raw, { reportInput: true });
  if (parsed.success && details.length === 0) return { ok: true, value: parsed.data };
  return refuse([...details, ...(parsed.error?.issues ?? []).map((issue) => detailOf(issue, raw))]);
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
  for (const name of Object.keys(raw)) {
    if (known.includes(name)) continue;
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

/**
 * Finds what no store and no parser below should ever meet: NUL, lone surrogates, __proto__ keys, and
 * nesting deeper than any input of ours.
 */
function hostileValue(value: unknown, param: string, depth: number): ErrorDetail | null {
  if (typeof value === 'string') {
    if (value.includes('\0'))
      return { param, reason: 'invalid_type', message: `${param} contains a NUL character; remove it.` };
    return value.isWellFormed()
      ? null
      : { param, reason: 'invalid_type', message: `${param} contains half a surrogate pair; send whole characters.` };
  }
  if (typeof value !== 'object' || value === null) return null;
  if (depth >= DEEPEST)
    return {
      param: param.slice(0, 100),
      reason: 'invalid_type',
      message: `The body is nested deeper than ${DEEPEST} levels.`,
    };
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = hostileValue(value[index], `${param}[${index}]`, depth + 1);
      if (found) return found;
    }
    return null;
  }
  for (const [name, inner] of Object.entries(value)) {
    const path = param === '' ? name : `${param}.${name}`;
    if (name === '__proto__')
      return { param: path, reason: 'invalid_type', message: '__proto__ is not allowed as a name.' };
    const found = hostileValue(name, path, depth + 1) ?? hostileValue(inner, path, depth + 1);
    if (found) return found;
  }
  return null;
}

function detailOf(issue: z.core.$ZodIssue, raw: unknown): ErrorDetail {
  const param = pathText(issue.path);
  if (issue.code === 'custom') {
    const reason: unknown = issue.params?.reason;
    if (typeof reason === 'string' && reason in reasons)
      return { param, reason: reason as Reason, message: issue.message };
  }
  if (isAbsent(raw, issue.path)) return { param, reason: 'missing_field', message: `${param} is required; add it.` };
  const expected = issue.code === 'invalid_type' ? `must be ${article(issue.expected)}` : issue.message;
  const message = expected.startsWith(`${param} `) ? expected : `${param || 'The body'} ${expected}`;
  return { param, reason: 'invalid_type', message: message.endsWith('.') ? message : `${message}.` };
}

function isAbsent(raw: unknown, path: readonly PropertyKey[]): boolean {
  let value: unknown = raw;
  for (const part of path) value = isRecord(value) || Array.isArray(value) ? Reflect.get(value, part) : undefined;
  return value === undefined;
}

function article(kind: string): string {
  const name = kind === 'record' ? 'object' : kind;
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`;
}

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}
