import type { AppError } from './errors.ts';
import { httpStatus } from './http-status.ts';

const TOO_MANY_REQUESTS = 429;

/** Returns how long to wait after a limit error: as the limit specifies, or else until the next minute begins. */
export function retryAfterSeconds({ facts }: AppError, now_ms: number): number {
  if (facts.retry_after_seconds !== undefined) return facts.retry_after_seconds;
  const resets_at = facts.extra?.resets_at;
  if (typeof resets_at === 'string') return Math.max(1, Math.ceil((Date.parse(resets_at) - now_ms) / 1000));
  return 60 - (Math.floor(now_ms / 1000) % 60);
}

/** Returns the Retry-After header, which every API sends with a 429; returns no header for any other status. */
export function retryAfterHeader(
  error: AppError,
  now_ms: number,
  status: number = httpStatus[error.code],
): Record<string, string> {
  return status === TOO_MANY_REQUESTS ? { 'retry-after': String(retryAfterSeconds(error, now_ms)) } : {};
}
