import type { Context } from '../context.ts';
import type { Submission } from './accept-line.ts';

/**
 * Puts a submission on the accept line and waits for its commit. A refusal is thrown; what is judged, or
 * was judged before under the same idempotency key, comes back as the operation's output.
 */
export async function submit<O>(
  ctx: Context,
  submission: Omit<Submission, 'request_id'>,
  outputOf: (results: Parameters<NonNullable<Submission['idempotency']>['remember']>[0]) => O,
): Promise<O> {
  const answer = await ctx.accept.submit({ ...submission, request_id: ctx.request_id });
  // Null where the request was counted before it came here.
  ctx.notes.window = answer.window ?? ctx.notes.window;
  if (answer.kind === 'refused') throw answer.error;
  if (answer.kind === 'judged') return outputOf(answer.results);
  ctx.notes.replayed = true;
  // What remember() made of this operation's own output.
  return JSON.parse(answer.answer) as O;
}
