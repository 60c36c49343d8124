import { AppError, invoke, invokeParsed, type List, type Operation, type Reason } from '@postrider/core';
import type { z } from 'zod';
import { type Connection, connectionFrom } from './connections.ts';
import { snakeCase, snakeFields } from './names.ts';
import { type PageArgs, pageInput } from './page-size.ts';
import type { GraphqlContext } from './request-context.ts';

type Args = Readonly<Record<string, unknown>>;

/** Calls an operation with GraphQL arguments, which core validates. */
export function call<O>(
  g: GraphqlContext,
  operation: Operation<z.ZodType, O>,
  args: Args,
  /** Fields that an explicit null clears. */
  clearable: readonly string[] = [],
): Promise<O> {
  const cleared = clearable.filter((name) => args[name] === null).map((name) => [snakeCase(name), null]);
  return invoke(g.ctx, operation, { ...snakeFields(args), ...Object.fromEntries(cleared) });
}

/**
 * Calls an operation whose input requires a lookup first. A caller without access gets the operation's own error
 * whether or not the lookup finds anything.
 */
export async function callIfPresent<O>(
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

/** Returns the value if it was found. Otherwise, throws the given error. */
export function present<T>(value: T | null, absence: AppError): T {
  if (value !== null) return value;
  throw absence;
}

/** Maps one error reason to null, because a lookup that finds nothing is not an error. */
export async function orNull<T>(reason: Reason, read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof AppError && error.reason === reason) return null;
    throw error;
  }
}

/** Calls a list operation and returns its page as a connection. */
export async function page<T extends { readonly id: string }>(
  g: GraphqlContext,
  operation: Operation<z.ZodType, List<T>>,
  args: PageArgs,
  filter: Args = {},
): Promise<Connection<T>> {
  const list = await invoke(g.ctx, operation, { ...snakeFields(filter), ...pageInput(args) });
  return connectionFrom(list, args.after);
}
