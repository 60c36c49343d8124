import type { z } from 'zod';
import { sandboxRefusal } from './access.ts';
import type { ActorContext, Context } from './context.ts';
import type { AppError, ErrorDetail, Reason } from './errors.ts';
import { onReplica } from './on-replica.ts';
import { parseInput } from './parse-input.ts';
import { factorRefusal, scopeRefusal } from './scope-refusal.ts';
import type { Scope } from './scopes.ts';

/** A use case as APIs see it. Its run function is private: only invoke reaches it. */
export interface Operation<I extends z.ZodType, O> {
  readonly name: string;
  /** null: any valid key. */
  readonly scope: Scope | null;
  /** Open to sandbox keys under `scope`; otherwise a sandbox key needs the scope by name (see sandboxRefusal). */
  readonly sandbox: boolean;
  /** One line, shown in the API reference. */
  readonly summary: string;
  /** The errors of its own, beyond those of every request; shown in the API reference. A route test that gets another fails. */
  readonly reasons: readonly Reason[];
  readonly input: I;
  /** The schema of the response, for the API reference and for tests. */
  readonly output: z.ZodType<O>;
}

export type Parsed<T> =
  | {
      readonly ok: true;
      readonly value: T;
      /** Errors the API found itself; listed with those found by the schema. */
      readonly faults?: readonly ErrorDetail[];
    }
  | { readonly ok: false; readonly error: AppError };

/** A request for batched acceptance, before the database has checked its key. */
export interface Admission<T> {
  readonly actor: Context['actor'];
  readonly scope: Scope;
  readonly parsed: Parsed<T>;
  /** The raw input; undefined if it could not be read. */
  readonly raw: unknown;
}

type Run = (ctx: Context, raw: Parsed<unknown>) => Promise<unknown>;
const runs = new WeakMap<object, Run>();

/** Declares a use case. invoke checks scope and input before run. */
export function operation<I extends z.ZodType, O>(definition: {
  readonly name: string;
  readonly scope: Scope | null;
  readonly sandbox?: true;
  /** Set for what people may do while a policy requires a second factor that they do not have yet. */
  readonly without_factor?: true;
  /** Set for a read that may run on a replica: it reads no unlogged table and changes nothing. */
  readonly replica?: true;
  readonly summary: string;
  readonly reasons?: readonly Reason[];
  readonly input: I;
  readonly output: z.ZodType<O>;
  run(ctx: ActorContext, input: z.output<I>): Promise<O>;
}): Operation<I, O> {
  const { name, scope, sandbox = false, summary, reasons = [], input, output } = definition;
  const declared: Operation<I, O> = Object.freeze({ name, scope, sandbox, summary, reasons, input, output });
  runs.set(declared, async (ctx, raw) => {
    const proven = requireActor(ctx);
    const refusal =
      (definition.without_factor ? null : factorRefusal(proven.actor)) ??
      (scope && scopeRefusal(proven.actor, scope)) ??
      sandboxRefusal(proven.actor, declared);
    if (refusal) throw refusal;
    const parsed_input = take(parseWith(ctx, input, raw));
    return definition.replica
      ? onReplica(proven, (place) => definition.run(place, parsed_input))
      : definition.run(proven, parsed_input);
  });
  return declared;
}

/**
 * Declares a use case whose key, rate window and scope are checked inside a batched statement. The use case also
 * receives invalid input, because errors have an order: 401, 429, 403, then 400.
 */
export function admittedOperation<I extends z.ZodType, O>(definition: {
  readonly name: string;
  readonly scope: Scope;
  readonly summary: string;
  readonly reasons?: readonly Reason[];
  readonly input: I;
  readonly output: z.ZodType<O>;
  run(ctx: Context, admission: Admission<z.output<I>>): Promise<O>;
}): Operation<I, O> {
  const { name, scope, summary, reasons = [], input, output } = definition;
  const declared: Operation<I, O> = Object.freeze({ name, scope, sandbox: true, summary, reasons, input, output });
  runs.set(declared, (ctx, raw) => {
    const refusal = ctx.actor.kind === 'user' ? factorRefusal(ctx.actor) : null;
    if (refusal) throw refusal;
    const parsed = parseWith(ctx, input, raw);
    return definition.run(ctx, { actor: ctx.actor, scope, parsed, raw: raw.ok ? raw.value : undefined });
  });
  return declared;
}

/** Checks the scope, parses the input and runs the operation. The only entry point. */
export function invoke<I extends z.ZodType, O>(ctx: Context, operation: Operation<I, O>, raw: unknown): Promise<O> {
  return invokeParsed(ctx, operation, { ok: true, value: raw });
}

/** Runs an operation as invoke does, for an API whose body parsing may already have failed. */
export async function invokeParsed<I extends z.ZodType, O>(
  ctx: Context,
  operation: Operation<I, O>,
  raw: Parsed<unknown>,
): Promise<O> {
  const run = runs.get(operation);
  if (!run) throw new Error(`${operation.name} was not made by operation()`);
  // The WeakMap loses the type O; operation() and admittedOperation() only store a run function that returns O.
  return (await run(ctx, raw)) as O;
}

function requireActor(ctx: Context): ActorContext {
  if (ctx.actor.kind === 'credential') throw new Error('an unchecked credential reached an operation');
  // Narrowing a property does not narrow the object, so the type restates the check above.
  return ctx as ActorContext;
}

function parseWith<I extends z.ZodType>(ctx: Context, input: I, raw: Parsed<unknown>): Parsed<z.output<I>> {
  if (!raw.ok) return raw;
  const parsed = parseInput(input, raw.value, raw.faults);
  ctx.notes.ignored_fields = parsed.ignored;
  return parsed;
}

function take<T>(parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw parsed.error;
}
