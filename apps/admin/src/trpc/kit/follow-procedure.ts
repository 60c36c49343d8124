import { type Context, createContext, invoke, type Operation } from '@postrider/core';
import { isStillSame } from '@postrider/core/people';
import { type OpenStream, openStream } from '@postrider/core/usage';
import { type TRPCSubscriptionProcedure, type TrackedEnvelope, tracked } from '@trpc/server';
import type { z } from 'zod';
import { asItCame, type Caller, type Input, refusing, signedIn, subscriptions } from './invoke-procedure.ts';

const CHECK_MS = 30_000;
/** The id of a state, which every connection gets again; no operation resumes after it. */
export const STATE = 'state';

/** One message of a stream; id is the lastEventId with which the browser resumes after it. */
export interface Told<D> {
  readonly id: string;
  readonly data: D;
}

interface Following<I extends z.ZodType, D> {
  readonly input: Input<I>;
  readonly output: AsyncIterable<TrackedEnvelope<D>, void, unknown>;
  readonly meta: unknown;
}

/**
 * A streaming operation as a subscription over SSE. A reconnect resumes after lastEventId, which the operation gets as
 * `after`. It counts against the streams of the session, and ends with it.
 */
export function following<I extends z.ZodType, T, D>(
  operation: Operation<I, AsyncGenerator<T | null>>,
  tell: (item: T) => Told<D>,
): TRPCSubscriptionProcedure<Following<I, D>> {
  // The parser passes the raw input to invoke, which validates it; the cast gives it the type of invoke's input.
  return subscriptions.input(asItCame).subscription(({ ctx, input, signal }) => {
    const { lastEventId, ...asked } = fieldsOf(input);
    const after = typeof lastEventId === 'string' && lastEventId !== STATE ? { after: lastEventId } : {};
    return stream(ctx, signal, async (context) => {
      const items = await invoke(context, operation, { ...asked, ...after });
      return { next: () => items.next(), stop: () => items.return(undefined), tell };
    });
  }) as never;
}

/** A stream's source; it yields null as a keep-alive. */
export interface Source<T, D> {
  next(): Promise<IteratorResult<T | null>>;
  stop(): Promise<unknown>;
  tell(item: T): Told<D>;
}

/** Opens a source for a signed-in user; if it refuses, that is the answer of the request. */
export async function stream<T, D>(
  caller: Caller,
  signal: AbortSignal | undefined,
  open: (ctx: Context) => Promise<Source<T, D>>,
): Promise<AsyncGenerator<TrackedEnvelope<D>, void, unknown>> {
  return refusing(async () => {
    const { services, request_id, address } = caller;
    const actor = signedIn(caller);
    const source = await open(createContext(services, actor, { request_id, address, via: 'dashboard' }));
    try {
      const place = await openStream(services.sql, actor.session_id);
      return told(caller, signal, source, place);
    } catch (error) {
      await source.stop();
      throw error;
    }
  });
}

async function* told<T, D>(
  caller: Caller,
  signal: AbortSignal | undefined,
  source: Source<T, D>,
  place: OpenStream,
): AsyncGenerator<TrackedEnvelope<D>, void, unknown> {
  const { services } = caller;
  let checked = services.clock.now();
  try {
    for (;;) {
      const { done, value } = await source.next();
      if (done || signal?.aborted) return;
      if (services.clock.now() - checked >= CHECK_MS) {
        checked = services.clock.now();
        if (!(await isStillSame(services, signedIn(caller)))) return;
        await place.renew();
      }
      if (value === null) continue;
      const { id, data } = source.tell(value);
      yield tracked(id, data);
    }
  } finally {
    await Promise.all([source.stop(), place.close()]);
  }
}

/** The fields of a raw input; anything but an object becomes {}, which the operation then rejects. */
export function fieldsOf(input: unknown): Readonly<Record<string, unknown>> {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? { ...input } : {};
}
