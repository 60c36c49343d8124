import type { EventType } from '../events/index.ts';

export const domainStates = ['pending', 'verified', 'at_risk', 'failed', 'suspended'] as const;
export type DomainState = (typeof domainStates)[number];

interface DomainTransition {
  readonly from: readonly DomainState[];
  readonly to: DomainState;
  readonly event: EventType | null;
}

/** The only transitions that write the state of a domain. A domain can send while it is verified or at risk. */
export const domainTransitions = {
  verify: { from: ['pending', 'at_risk', 'failed'], to: 'verified', event: 'domain.verified' },
  lose: { from: ['verified'], to: 'at_risk', event: 'domain.at_risk' },
  give_up: { from: ['pending', 'at_risk'], to: 'failed', event: 'domain.failed' },
  yield_claim: { from: ['verified', 'at_risk'], to: 'failed', event: 'domain.failed' },
  suspend: { from: ['pending', 'verified', 'at_risk', 'failed'], to: 'suspended', event: null },
  resume: { from: ['suspended'], to: 'pending', event: null },
} as const satisfies Record<string, DomainTransition>;
export type DomainTransitionName = keyof typeof domainTransitions;

/** The combined result of the required records; unknown if a lookup failed. */
export type Proof = 'right' | 'wrong' | 'unknown';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const PENDING_MS = 14 * DAY_MS;
const GRACE_MS = 72 * HOUR_MS;
const MAX_SILENT_MS = 6 * HOUR_MS;

/** Returns the transition after a check, given the time in the current state; null if there is none. */
export function judgeProof(state: DomainState, proof: Proof, in_state_ms: number): DomainTransitionName | null {
  if (proof === 'unknown') return null;
  if (proof === 'right') return domainTransitions.verify.from.some((from) => from === state) ? 'verify' : null;
  if (state === 'verified') return 'lose';
  if (state === 'pending') return in_state_ms >= PENDING_MS ? 'give_up' : null;
  return state === 'at_risk' && in_state_ms >= GRACE_MS ? 'give_up' : null;
}

/**
 * Returns the time until the next background check; null means never. New domains are checked often because a user is
 * waiting, and those at risk because they should recover soon. unanswered: a lookup failed. rotating: the next keys are
 * not published yet.
 */
export function nextCheckMs(
  state: DomainState,
  in_state_ms: number,
  { unanswered, rotating }: { readonly unanswered: boolean; readonly rotating: boolean },
): number | null {
  const interval = usualCheckMs(state, in_state_ms);
  // Servers that have been silent since a domain was added would occupy a check slot on every try.
  if (state === 'pending' && unanswered) return Math.min(MAX_SILENT_MS, Math.max(2 * MINUTE_MS, in_state_ms / 2));
  return interval !== null && (unanswered || rotating) ? Math.min(interval, 10 * MINUTE_MS) : interval;
}

function usualCheckMs(state: DomainState, in_state_ms: number): number | null {
  switch (state) {
    case 'pending':
      if (in_state_ms < HOUR_MS) return 2 * MINUTE_MS;
      return in_state_ms < DAY_MS ? 10 * MINUTE_MS : HOUR_MS;
    case 'at_risk':
      return 10 * MINUTE_MS;
    case 'verified':
      return 6 * HOUR_MS;
    case 'failed':
      return in_state_ms < 30 * DAY_MS ? DAY_MS : null;
    case 'suspended':
      return null;
  }
}
