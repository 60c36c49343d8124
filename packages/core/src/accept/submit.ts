import type { Context } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { noSpan } from '../process/tracing.ts';
import type { Submission, SubmitBatcher } from './submission.ts';

/**
 * Passes a submission to the submit batcher and waits for its commit. Throws if it is rejected; results, new or
 * replayed, become the output of the operation.
 */
export async function submit<O>(
  ctx: Context,
  submission: Omit<Submission, 'request_id' | 'trace' | 'counted'>,
  outputOf: (results: Parameters<NonNullable<Submission['idempotency']>['remember']>[0]) => O,
): Promise<O> {
  const span = ctx.trace === null ? noSpan : ctx.tracing.begin('commit', { parent: ctx.trace });
  const request = { ...submission, request_id: ctx.request_id, counted: ctx.send_counted, trace: span.traceparent };
  const response = await batcherOf(ctx)
    .submit(request)
    .catch((error: unknown) => {
      span.end({ failed: true });
      throw error;
    });
  span.end({ failed: response.kind === 'refused', facts: { messages: submission.messages.length } });
  // The headers describe the window in which the API counted the request, or the window that rejected it.
  const limited = response.kind === 'refused' && response.error.code === 'rate_limited';
  ctx.notes.window = limited ? response.window : (ctx.notes.window ?? response.window);
  if (response.kind === 'refused') throw response.error;
  if (response.kind === 'judged') {
    const { results } = response;
    let accepted = 0;
    for (const result of results) {
      if (result instanceof AppError) continue;
      accepted += 1;
      ctx.mail_log.info('mail accepted', () => ({ email_id: result.id, request_id: ctx.request_id, via: ctx.via }));
    }
    if (accepted > 0) ctx.metrics.count('messages_accepted_total', [ctx.via], accepted);
    return outputOf(results);
  }
  ctx.notes.replayed = true;
  // remember() serialized an output of this operation.
  return JSON.parse(response.answer) as O;
}

/** Returns the SubmitBatcher of the context, which is typed as a narrower interface; createServices always sets one. */
function batcherOf(ctx: Context): SubmitBatcher {
  return ctx.accept as SubmitBatcher;
}
