import type { EventType } from '../events/catalogue.ts';

export const domainStates = ['pending', 'verified', 'at_risk', 'failed', 'suspended'] as const;
export type DomainState = (typeof domainStates)[number];

interface DomainTransition {
  readonly from: readonly DomainState[];
  readonly to: DomainState;
  readonly event: EventType | null;
}

/** All there is: nothing else writes a domain's state. Mail leaves while it is verified or at risk. */
export const domainTransitions = {
  verify: { from: ['pending', 'at_risk', 'failed'], to: 'verified', event: 'domain.verified' },
  lose: { from: ['verified'], to: 'at_risk', event: 'domain.at_risk' },
  give_up: { from: ['pending', 'at_risk'], to: 'failed', event: 'domain.failed' },
  suspend: { from: ['pending', 'verified', 'at_risk', 'failed'], to: 'suspended', event: null },
  resume: { from: ['suspended'], to: 'pending', event: null },
} as const satisfies Record<string, DomainTransition>;
export type DomainTransitionName = keyof typeof domainTransitions;

/** Of the required records together; unknown where one of them could not be looked up. */
export type Proof = 'right' | 'wrong' | 'unknown';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const PENDING_MS = 14 * DAY_MS;
const GRACE_MS = 72 * HOUR_MS;

/** What a check means for a domain that has been in its state for a while; null: it stays as it is. */
export function judgeProof(state: DomainState, proof: Proof, in_state_ms: number): DomainTransitionName | null {
  if (proof === 'unknown') return null;
  if (proof === 'right') return domainTransitions.verify.from.some((from) => from === state) ? 'verify' : null;
  if (state === 'verified') return 'lose';
  if (state === 'pending') return in_state_ms >= PENDING_MS ? 'give_up' : null;
  return state === 'at_risk' && in_state_ms >= GRACE_MS ? 'give_up' : null;
}

/**
 * How long until the next background check; null: nobody looks by itself any more. Somebody waits for a new domain,
 * and one at risk should not stay so for longer than it must. restless: keys are being changed, or the DNS failed.
 */
export function nextCheckMs(state: DomainState, in_state_ms: number, restless: boolean): number | null {
  const usual = usualCheckMs(state, in_state_ms);
  return usual !== null && restless ? Math.min(usual, 10 * MINUTE_MS) : usual;
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
