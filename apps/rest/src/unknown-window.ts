import type { Services } from '@postrider/core';
import { ADDRESS_LIMIT, SESSION_LIMIT } from '@postrider/core/usage';
import type { ApiResponse } from './respond.ts';

const defaultLimits = {
  send: 1000,
  logs: 60,
  default: 120,
  address: ADDRESS_LIMIT,
  session: SESSION_LIMIT,
  // This window is never shown, because a request over the workspace limit has already been counted.
  workspace: 0,
} as const;

export type WindowName = keyof typeof defaultLimits;

/** Returns the window of a response that was not counted because the database was unreachable. */
export function unknownWindow(services: Pick<Services, 'clock'>, name: WindowName): ApiResponse['window'] {
  const seconds = Math.floor(services.clock.now() / 1000);
  const reset_unix = seconds - (seconds % 60) + 60;
  return { limit: defaultLimits[name], remaining: 0, reset_unix, retry_after_seconds: reset_unix - seconds };
}
