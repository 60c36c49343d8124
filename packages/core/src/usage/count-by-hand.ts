import type { Services, UserActor } from '../operation/context.ts';
import type { AppError } from '../operation/errors.ts';
import type { RateWindow } from '../operation/ports.ts';
import { rateRefusal, windowOf } from './rate-window.ts';
import { countSendByHand, countSession } from './store.ts';

export interface CountedByHand {
  readonly window: RateWindow;
  /** The 429 error if the limit is exceeded. */
  readonly refusal: AppError | null;
}

/** Counts the calls of one request of a signed-in user, each separately. */
export async function countCalls(
  services: Pick<Services, 'sql'>,
  { session_id }: UserActor,
  calls: number,
): Promise<CountedByHand> {
  const counted = await countSession(services.sql, session_id, calls);
  return { window: windowOf(counted), refusal: rateRefusal('session', counted) };
}

/** Counts a send by a signed-in user against the workspace's limit. */
export async function countSend(
  services: Pick<Services, 'sql'>,
  { workspace_id }: Pick<UserActor, 'workspace_id'>,
): Promise<CountedByHand> {
  const counted = await countSendByHand(services.sql, workspace_id);
  return { window: windowOf(counted), refusal: rateRefusal('send', counted) };
}
