import type { HttpOutcome } from '@postrider/net';
import { retryDelay } from '../../delivery/index.ts';
import type { WebhookDeliveryState } from './state.ts';

/** The consequences of a response for the delivery and the endpoint. */
export interface PostVerdict {
  readonly state: WebhookDeliveryState;
  readonly delay_seconds: number;
  /** From Retry-After. */
  readonly wait_seconds: number;
  /** The endpoint responded with 410 Gone. */
  readonly gone: boolean;
}

const STATUS_GONE = 410;
/** The two statuses whose Retry-After is honored: RFC 6585 section 4, RFC 9110 section 15.6.4. */
const WAITING: ReadonlySet<number> = new Set([429, 503]);
const MAX_WAIT_SECONDS = 86_400;
const JITTER = 0.1;

/**
 * Judges the outcome of a post. The schedule lists the gaps between attempts; random (0 to 1) jitters a gap by a tenth.
 */
export function judgePost(
  outcome: HttpOutcome,
  attempt_count: number,
  schedule: readonly number[],
  now_ms: number,
  random: number,
): PostVerdict {
  const status = outcome.kind === 'answered' ? outcome.status : 0;
  if (status >= 200 && status < 300) return { state: 'delivered', delay_seconds: 0, wait_seconds: 0, gone: false };
  if (status === STATUS_GONE) return { state: 'failed', delay_seconds: 0, wait_seconds: 0, gone: true };
  const wait_seconds = outcome.kind === 'answered' && WAITING.has(status) ? waitOf(outcome.retry_after, now_ms) : 0;
  const gap = retryDelay(schedule, attempt_count);
  if (gap === null) return { state: 'failed', delay_seconds: 0, wait_seconds, gone: false };
  const delay_seconds = Math.max(gap * (1 - JITTER + 2 * JITTER * random), wait_seconds);
  return { state: 'pending', delay_seconds, wait_seconds, gone: false };
}

/** Parses Retry-After, which is seconds or a date (RFC 9110 section 10.2.3). */
function waitOf(retry_after: string | null, now_ms: number): number {
  const text = retry_after?.trim() ?? '';
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - now_ms) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), MAX_WAIT_SECONDS) : 0;
}
