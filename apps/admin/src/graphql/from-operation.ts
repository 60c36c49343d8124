import { invoke, type List, type Operation } from '@postrider/core';
import type { z } from 'zod';
import { type Connection, connectionFrom, type PageArgs, pageInput } from './connections.ts';
import type { GraphqlContext } from './request-context.ts';

type Args = Readonly<Record<string, unknown>>;

/** Calls an operation with arguments as GraphQL names them. The core judges them, as it does for every face. */
export function call<O>(g: GraphqlContext, operation: Operation<z.ZodType, O>, args: Args): Promise<O> {
  return invoke(g.ctx, operation, snakeFields(args));
}

/** Calls a list operation; first and after become its limit and cursor, and its page a connection. */
export async function page<T extends { readonly id: string }>(
  g: GraphqlContext,
  operation: Operation<z.ZodType, List<T>>,
  args: PageArgs,
  filter: Args = {},
): Promise<Connection<T>> {
  const list = await invoke(g.ctx, operation, { ...snakeFields(filter), ...pageInput(args) });
  g.cost.spared += Math.max(0, pageInput(args).limit - list.data.length);
  return connectionFrom(list, args.after);
}

/**
 * Names as the core has them. null is left out, because clients send it for what they do not name; where a
 * field can be cleared, its mutation passes null on by hand.
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
