import type { EventType } from '../events/catalogue.ts';

export const domainStates = ['pending', 'verified', 'at_risk', 'failed', 'suspended'] as const;
export type DomainState = (typeof domainStates)[number];

interface DomainTransition {
  readonly from: readonly DomainState[];
  readonly to: DomainState;
  readonly event: EventType;
}

/** All there is: nothing else writes a domain's state. Mail leaves while it is verified or at risk. */
export const domainTransitions = {
  verify: { from: ['pending', 'at_risk', 'failed'], to: 'verified', event: 'domain.verified' },
  lose: { from: ['verified'], to: 'at_risk', event: 'domain.at_risk' },
  give_up: { from: ['pending', 'at_risk'], to: 'failed', event: 'domain.failed' },
} as const satisfies Record<string, DomainTransition>;
export type DomainTransitionName = keyof typeof domainTransitions;

/** Of the required records together; unknown where one of them could not be looked up. */
export type Proof = 'right' | 'wrong' | 'unknown';

const HOUR_MS = 3_600_000;
const PENDING_MS = 14 * 24 * HOUR_MS;
const GRACE_MS = 72 * HOUR_MS;

/** What a check means for a domain that has been in its state for a while; null: it stays as it is. */
export function judgeProof(state: DomainState, proof: Proof, in_state_ms: number): DomainTransitionName | null {
  if (proof === 'unknown') return null;
  if (proof === 'right') return domainTransitions.verify.from.some((from) => from === state) ? 'verify' : null;
  if (state === 'verified') return 'lose';
  if (state === 'pending') return in_state_ms >= PENDING_MS ? 'give_up' : null;
  return state === 'at_risk' && in_state_ms >= GRACE_MS ? 'give_up' : null;
}
