import type { Services, UserActor } from '../operation/context.ts';
import type { AppError } from '../operation/errors.ts';
import type { RateWindow } from '../operation/ports.ts';
import { rateRefusal, windowOf } from './rate-window.ts';
import { countSession } from './store.ts';

export interface CountedCalls {
  readonly window: RateWindow;
  /** The 429 error, if the limit is exceeded. */
  readonly refusal: AppError | null;
}

/** Counts the calls in one request of a signed-in user, each separately. */
export async function countCalls(
  services: Pick<Services, 'sql'>,
  { session_id }: UserActor,
  calls: number,
): Promise<CountedCalls> {
  const window_count = await countSession(services.sql, session_id, calls);
  return { window: windowOf(window_count), refusal: rateRefusal('session', window_count) };
}
