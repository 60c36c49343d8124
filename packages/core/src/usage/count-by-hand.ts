import type { Services, UserActor } from '../context.ts';
import type { AppError } from '../errors.ts';
import { type RateWindow, rateRefusal, windowOf } from './rate-window.ts';
import { countSendByHand, countSession } from './store.ts';

export interface CountedByHand {
  readonly window: RateWindow;
  /** The 429, where the window is full. */
  readonly refusal: AppError | null;
}

/** Counts what somebody who is signed in asks for in one request, each call by itself. */
export async function countCalls(
  services: Pick<Services, 'sql'>,
  { session_id }: UserActor,
  calls: number,
): Promise<CountedByHand> {
  const counted = await countSession(services.sql, session_id, calls);
  return { window: windowOf(counted), refusal: rateRefusal('session', counted) };
}

/** Counts a mail that somebody who is signed in sends, together with those of everybody else in the workspace. */
export async function countSend(
  services: Pick<Services, 'sql'>,
  { workspace_id }: Pick<UserActor, 'workspace_id'>,
): Promise<CountedByHand> {
  const counted = await countSendByHand(services.sql, workspace_id);
  return { window: windowOf(counted), refusal: rateRefusal('send', counted) };
}
