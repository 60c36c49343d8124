import { AppError, createContext, invoke, type Operation, type Services, type UserActor } from '@postrider/core';
import { requireAdmittedSince } from '@postrider/core/people';
import { initTRPC, TRPCError, type TRPCMutationProcedure, type TRPCQueryProcedure } from '@trpc/server';
import type { z } from 'zod';
import { errorData, publicError, trpcCode } from './errors.ts';
import type { RateNotes } from './rate-headers.ts';

/** The context of all procedures in one batch. */
export interface Caller {
  readonly services: Services;
  /** The signed-in user, or null. */
  readonly actor: UserActor | null;
  /** When the session was checked, before the body was read. */
  readonly checked_at: number;
  readonly request_id: string;
  readonly address: string;
  readonly trace: string | null;
  readonly rate: RateNotes;
}

const t = initTRPC.context<Caller>().create({
  sse: {
    // Proxies close connections that are silent for a minute. The client reconnects after two missed pings.
    ping: { enabled: true, intervalMs: 15_000 },
    client: { reconnectAfterInactivityMs: 35_000 },
  },
  // Otherwise, responses include stack traces.
  isDev: false,
  errorFormatter({ shape, error, ctx }) {
    const public_error = publicError(error);
    return {
      code: shape.code,
      message: public_error.message,
      data: errorData(public_error, { request_id: ctx?.request_id ?? '', public_url: ctx?.services.public_url ?? '' }),
    };
  },
});

export const { router } = t;
export const subscriptions = t.procedure;

/** The input may be omitted if every field is optional. */
export type Input<I extends z.ZodType> = Record<string, never> extends z.input<I> ? z.input<I> | undefined : z.input<I>;

export interface TypedProcedure<I extends z.ZodType, O> {
  readonly input: Input<I>;
  readonly output: O;
  readonly meta: unknown;
}

/** Exposes a read-only operation as a query (GET). */
export function query<I extends z.ZodType, O>(operation: Operation<I, O>): TRPCQueryProcedure<TypedProcedure<I, O>> {
  // The parser passes the raw input to invoke, which validates it. The cast restores the type of invoke's input.
  return t.procedure.input(passThrough).query(({ ctx, input }) => run(ctx, operation, input)) as never;
}

/** Exposes an operation with side effects as a mutation (POST). */
export function mutation<I extends z.ZodType, O>(
  operation: Operation<I, O>,
): TRPCMutationProcedure<TypedProcedure<I, O>> {
  // The cast is safe for the same reason as in query().
  return t.procedure.input(passThrough).mutation(({ ctx, input }) => run(ctx, operation, input)) as never;
}

export function passThrough(raw: unknown): unknown {
  return raw;
}

async function run<I extends z.ZodType, O>(caller: Caller, operation: Operation<I, O>, input: unknown): Promise<O> {
  return refusing(async () => {
    const { services, request_id, address, trace, rate, checked_at } = caller;
    const actor = signedIn(caller);
    const ctx = createContext(services, actor, { request_id, address, trace, via: 'dashboard' });
    await requireAdmittedSince(ctx, checked_at);
    try {
      return await invoke(ctx, operation, input ?? {});
    } finally {
      if (ctx.notes.window) rate.note(ctx.notes.window);
    }
  });
}

export function signedIn({ actor }: Caller): UserActor {
  if (actor === null) throw new AppError('session_ended', 'You are not signed in. Sign in and retry.');
  return actor;
}

/** Rethrows an AppError as a TRPCError with the matching code. */
export async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError)
      throw new TRPCError({ code: trpcCode[error.code], message: error.message, cause: error });
    throw error;
  }
}
