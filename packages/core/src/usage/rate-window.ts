import { isIP } from 'node:net';
import { AppError, type Reason } from '../operation/errors.ts';
import type { RateWindow, WindowCount } from '../operation/ports.ts';

/**
 * Three windows per key, one per client address without a valid key, one per session, and one for all keys of a
 * workspace. Sends by a workspace's signed-in users count in the workspace's own `send` window.
 */
export const rateClasses = ['send', 'logs', 'default', 'address', 'session', 'workspace'] as const;
export type RateClass = (typeof rateClasses)[number];
export type KeyRateClass = Exclude<RateClass, 'address' | 'session' | 'workspace'>;

export const ADDRESS_LIMIT = 120;
// A dashboard page makes about ten calls and repeats some of them every few seconds.
export const SESSION_LIMIT = 600;

/**
 * Returns the rate-limit subject for requests without a key: the IPv4 address, or the /64 of an IPv6 address, because a
 * client can choose any address within its /64.
 */
export function addressSubject(address: string): string {
  if (isIP(address) !== 6) return address;
  const groups = (part: string | undefined) => (part ? part.split(':') : []);
  const [head, tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const [left, right] = [groups(head), groups(tail)];
  const all = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return `${all.slice(0, 4).join(':')}::/64`;
}

const reasonOf: Record<RateClass, Reason> = {
  send: 'send_rate',
  logs: 'logs_rate',
  default: 'default_rate',
  address: 'address_rate',
  session: 'session_rate',
  workspace: 'workspace_rate',
};

export function windowOf(window_count: WindowCount): RateWindow {
  return {
    limit: window_count.limit,
    remaining: Math.max(0, window_count.limit - window_count.place),
    reset_unix: window_count.reset_unix,
    retry_after_seconds: Math.min(60, Math.max(1, Math.ceil(window_count.seconds_left))),
  };
}

/** Returns the 429 error for a request that exceeds its window's limit, or null. */
export function rateRefusal(rateClass: RateClass, window_count: WindowCount): AppError | null {
  if (window_count.place <= window_count.limit) return null;
  const { retry_after_seconds } = windowOf(window_count);
  const subject =
    rateClass === 'workspace' ? 'The plan allows all API keys of the workspace together' : 'This window allows';
  return new AppError(
    reasonOf[rateClass],
    `${subject} ${window_count.limit} requests per minute. Retry in ${retry_after_seconds} s.`,
    { retry_after_seconds },
  );
}

export interface KeyPlaces {
  readonly key: WindowCount;
  /** Null if the workspace has no limit, or the key is over its own limit. */
  readonly workspace: WindowCount | null;
}

/** Returns the window that the headers describe, and the 429 error if the key or its workspace is over the limit. */
export function judgeRate(
  rateClass: KeyRateClass,
  { key, workspace }: KeyPlaces,
): { readonly window: RateWindow; readonly refusal: AppError | null } {
  const own = rateRefusal(rateClass, key);
  const shared = own || workspace === null ? null : rateRefusal('workspace', workspace);
  return { window: windowOf(shared && workspace ? workspace : key), refusal: own ?? shared };
}
