import { AppError, type Context, cursorOf, invoke, type List, type Operation } from '@postrider/core';
import type { z } from 'zod';
import type { ResendRequest } from './resend-request.ts';

/** Returns a page the way Resend requests it: `after` is the ID of the last entry on the previous page. */
export async function pageAfter<I extends z.ZodType, T>(
  ctx: Context,
  operation: Operation<I, List<T>>,
  { query }: ResendRequest,
  filters: Readonly<Record<string, unknown>> = {},
): Promise<List<T>> {
  const limit = query.get('limit') ?? undefined;
  const after = query.get('after');
  if (query.has('before')) {
    throw new AppError('invalid_type', 'before is not supported. Use after with the ID of the last entry.');
  }
  const cursor = after === null ? undefined : cursorOf(await invoke(ctx, operation, { limit: 1, ...filters }), after);
  return invoke(ctx, operation, {
    ...(limit !== undefined && { limit }),
    ...(cursor !== undefined && { cursor }),
    ...filters,
  });
}
