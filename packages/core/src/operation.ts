import type { z } from 'zod';
import type { Scope } from './api-keys/scopes.ts';
import type { ActorContext, Context } from './context.ts';
import type { AppError } from './errors.ts';
import { parseInput } from './parse-input.ts';
import { sandboxRefusal } from './reach.ts';
import { scopeRefusal } from './scope-refusal.ts';

/** A use case as faces see it: a name, what it needs, what it takes. Its run is not reachable from here. */
export interface Operation<I extends z.ZodType, O> {
  readonly name: string;
  /** null: any valid key. */
  readonly scope: Scope | null;
  /** One line for documents. */
  readonly summary: string;
  readonly input: I;
  /** What run answers; documents are made of it, and tests hold answers against it. */
  readonly output: z.ZodType<O>;
}

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: AppError };

/** A request on its way into the batched accept, with what is known before the database is asked. */
export interface Admission<T> {
  readonly actor: Context['actor'];
  readonly scope: Scope;
  readonly parsed: Parsed<T>;
  /** The input as it came, for a fingerprint; undefined where it could not be read. */
  readonly raw: unknown;
}

type Run = (ctx: Context, raw: Parsed<unknown>) => Promise<unknown>;
const runs = new WeakMap<object, Run>();

/** Declares a use case. Its run can only be reached through invoke, after scope and parsing. */
export function operation<I extends z.ZodType, O>(definition: {
  readonly name: string;
  readonly scope: Scope | null;
  readonly summary: string;
  readonly input: I;
  readonly output: z.ZodType<O>;
  run(ctx: ActorContext, input: z.output<I>): Promise<O>;
}): Operation<I, O> {
  const { name, scope, summary, input, output } = definition;
  const declared: Operation<I, O> = Object.freeze({ name, scope, summary, input, output });
  runs.set(declared, async (ctx, raw) => {
    const proven = requireActor(ctx);
    const refusal = (scope && scopeRefusal(proven.actor, scope)) ?? sandboxRefusal(proven.actor, declared);
    if (refusal) throw refusal;
    return definition.run(proven, take(parseWith(input, raw)));
  });
  return declared;
}

/**
 * Declares a use case whose key, window and scope are checked inside a batched statement. It gets the
 * input or its refusal, because a bad body must lose to a bad key: 401, 429, 403, then 400.
 */
export function admittedOperation<I extends z.ZodType, O>(definition: {
  readonly name: string;
  readonly scope: Scope;
  readonly summary: string;
  readonly input: I;
  readonly output: z.ZodType<O>;
  run(ctx: Context, admission: Admission<z.output<I>>): Promise<O>;
}): Operation<I, O> {
  const { name, scope, summary, input, output } = definition;
  const declared: Operation<I, O> = Object.freeze({ name, scope, summary, input, output });
  runs.set(declared, (ctx, raw) => {
    const parsed = parseWith(input, raw);
    return definition.run(ctx, { actor: ctx.actor, scope, parsed, raw: raw.ok ? raw.value : undefined });
  });
  return declared;
}

/** The only way into an operation: scope, then parsing, then run. */
export function invoke<I extends z.ZodType, O>(ctx: Context, operation: Operation<I, O>, raw: unknown): Promise<O> {
  return invokeParsed(ctx, operation, { ok: true, value: raw });
}

/** Like invoke, for a face that may already know that the body cannot be read. */
export async function invokeParsed<I extends z.ZodType, O>(
  ctx: Context,
  operation: Operation<I, O>,
  raw: Parsed<unknown>,
): Promise<O> {
  const run = runs.get(operation);
  if (!run) throw new Error(`${operation.name} was not made by operation()`);
  // The WeakMap forgets O; operation() and admittedOperation() only store a run that returns it.
  return (await run(ctx, raw)) as O;
}

function requireActor(ctx: Context): ActorContext {
  if (ctx.actor.kind === 'credential') throw new Error('an unchecked credential reached an operation');
  // Narrowing a property does not narrow the object, so the check above is repeated as a type.
  return ctx as ActorContext;
}

function parseWith<I extends z.ZodType>(input: I, raw: Parsed<unknown>): Parsed<z.output<I>> {
  return raw.ok ? parseInput(input, raw.value) : raw;
}

function take<T>(parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw parsed.error;
}
