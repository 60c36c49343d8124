import { AppError, invoke, invokeParsed, type List, type Operation, type Reason } from '@postrider/core';
import type { z } from 'zod';
import { type Connection, connectionFrom, type PageArgs, pageInput } from './connections.ts';
import type { GraphqlContext } from './request-context.ts';

type Args = Readonly<Record<string, unknown>>;

/** Calls an operation with arguments as GraphQL names them. The core judges them, as it does for every face. */
export function call<O>(
  g: GraphqlContext,
  operation: Operation<z.ZodType, O>,
  args: Args,
  /** Fields that null clears. */
  clearable: readonly string[] = [],
): Promise<O> {
  const cleared = clearable.filter((name) => args[name] === null).map((name) => [snakeCase(name), null]);
  return invoke(g.ctx, operation, { ...snakeFields(args), ...Object.fromEntries(cleared) });
}

/**
 * Calls an operation about something that the core names otherwise than by its id. Who may not is refused as by the
 * operation, whatever was looked up before.
 */
export async function callFound<O>(
  g: GraphqlContext,
  operation: Operation<z.ZodType, O>,
  find: () => Promise<Args>,
): Promise<O> {
  const raw = await find().then(
    (value) => ({ ok: true, value }) as const,
    (error: unknown) => {
      if (error instanceof AppError) return { ok: false, error } as const;
      throw error;
    },
  );
  return invokeParsed(g.ctx, operation, raw);
}

/** What was found, or the refusal of what is not there. */
export function present<T>(found: T | null, absence: AppError): T {
  if (found !== null) return found;
  throw absence;
}

/** null in place of one refusal: a look-up by key finds nothing, which is no error. */
export async function orNull<T>(reason: Reason, read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof AppError && error.reason === reason) return null;
    throw error;
  }
}

/** Calls a list operation; first and after become its limit and cursor, and its page a connection. */
export async function page<T extends { readonly id: string }>(
  g: GraphqlContext,
  operation: Operation<z.ZodType, List<T>>,
  args: PageArgs,
  filter: Args = {},
): Promise<Connection<T>> {
  const list = await invoke(g.ctx, operation, { ...snakeFields(filter), ...pageInput(args) });
  return connectionFrom(list, args.after);
}

/**
 * Names as the core has them. null is left out, because clients send it for what they do not name; a field that
 * null clears is named to call().
 */
export function snakeFields(value: Args): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => (inner == null ? [] : [[snakeCase(name), snakeValue(inner)]])),
  );
}

function snakeValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeValue);
  // Input objects have no prototype; anything else, such as a JSON value, keeps its own names.
  if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null)
    return snakeFields(value as Args);
  return value;
}

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
