import {
  type AnswerNotes,
  AppError,
  createContext,
  invoke,
  type Operation,
  type Services,
  type UserActor,
} from '@postrider/core';
import { hasScope } from '@postrider/core/api-keys';
import { countSend } from '@postrider/core/usage';
import { initTRPC, TRPCError, type TRPCMutationProcedure, type TRPCQueryProcedure } from '@trpc/server';
import type { z } from 'zod';
import { errorData, publicError, trpcCode } from './errors.ts';
import type { RateNotes } from './rate-headers.ts';

/** What a request brings for all the procedures of its batch. */
export interface Caller {
  readonly services: Services;
  /** Who is signed in; null for nobody. */
  readonly actor: UserActor | null;
  readonly request_id: string;
  readonly address: string;
  readonly rate: RateNotes;
  /** What the headers of the answer are to tell. */
  readonly notes: Pick<AnswerNotes, 'session_token'>;
  /** The headers of the answer go out before its procedures have ended. */
  readonly streamed: boolean;
}

const t = initTRPC.context<Caller>().create({
  // Else answers carry stack traces.
  isDev: false,
  errorFormatter({ shape, error, ctx }) {
    const shown = publicError(error);
    return {
      code: shape.code,
      message: shown.message,
      data: errorData(shown, { request_id: ctx?.request_id ?? '', public_url: ctx?.services.public_url ?? '' }),
    };
  },
});

export const { router } = t;

/** What a caller may leave out where nothing in it is required. */
type Input<I extends z.ZodType> = Record<string, never> extends z.input<I> ? z.input<I> | undefined : z.input<I>;

interface Typed<I extends z.ZodType, O> {
  readonly input: Input<I>;
  readonly output: O;
  readonly meta: unknown;
}

/** An operation that reads, as a procedure: asked by GET. */
export function query<I extends z.ZodType, O>(operation: Operation<I, O>): TRPCQueryProcedure<Typed<I, O>> {
  // The parser passes the input on as it came, for invoke to judge; the type says what invoke will take.
  return t.procedure.input(asItCame).query(({ ctx, input }) => run(ctx, operation, input)) as never;
}

/** An operation that changes something, as a procedure: asked by POST. */
export function mutation<I extends z.ZodType, O>(operation: Operation<I, O>): TRPCMutationProcedure<Typed<I, O>> {
  // As above.
  return t.procedure.input(asItCame).mutation(({ ctx, input }) => run(ctx, operation, input)) as never;
}

/** An operation that sends mail: a mutation that counts in the window `send` of the workspace. */
export function sending<I extends z.ZodType, O>(operation: Operation<I, O>): TRPCMutationProcedure<Typed<I, O>> {
  // As above.
  return t.procedure.input(asItCame).mutation(({ ctx, input }) => run(ctx, operation, input, admitSend)) as never;
}

/** An operation that gives the session a new token: a mutation that sets the cookie. */
export function renewing<I extends z.ZodType, O>(operation: Operation<I, O>): TRPCMutationProcedure<Typed<I, O>> {
  // As above.
  return t.procedure.input(asItCame).mutation(({ ctx, input }) => run(ctx, operation, input, admitRenewal)) as never;
}

async function admitRenewal({ streamed }: Caller): Promise<void> {
  if (!streamed) return;
  throw new AppError(
    'malformed_request',
    'This procedure sets a cookie, which an answer in a stream cannot; call it by httpLink or httpBatchLink.',
  );
}

/** Those whose role lets them send nothing fill no window of those who may. */
async function admitSend({ services, rate }: Caller, actor: UserActor): Promise<void> {
  if (!hasScope(actor.scopes, 'email:send')) return;
  const { window, refusal } = await countSend(services, actor);
  rate.note(window);
  if (refusal) throw refusal;
}

function asItCame(raw: unknown): unknown {
  return raw;
}

async function run<I extends z.ZodType, O>(
  caller: Caller,
  operation: Operation<I, O>,
  input: unknown,
  admit?: (caller: Caller, actor: UserActor) => Promise<void>,
): Promise<O> {
  try {
    if (caller.actor === null) throw new AppError('session_ended', 'Nobody is signed in here; sign in and try again.');
    await admit?.(caller, caller.actor);
    const { request_id, address } = caller;
    const ctx = createContext(caller.services, caller.actor, { request_id, address, face: 'dashboard' });
    const answer = await invoke(ctx, operation, input ?? {});
    caller.notes.session_token = ctx.notes.session_token ?? caller.notes.session_token;
    return answer;
  } catch (error) {
    if (error instanceof AppError)
      throw new TRPCError({ code: trpcCode[error.code], message: error.message, cause: error });
    throw error;
  }
}
