import type { EventType } from '../events/index.ts';

/**
 * Every state of a recipient, in aggregate order: a message's status is the minimum of its recipients' states. Open
 * states come first, least advanced first; then closed ones, worst first. The database enum delivery_state has the same
 * order, so min(state) is the aggregate there.
 */
export const deliveryStates = [
  'scheduled',
  'queued',
  'deferred',
  'sending',
  'failed',
  'bounced',
  'complained',
  'suppressed',
  'canceled',
  'delivered',
] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export const openStates = ['scheduled', 'queued', 'deferred', 'sending'] as const satisfies readonly DeliveryState[];

interface Transition {
  readonly from: readonly DeliveryState[];
  readonly to: DeliveryState;
  /** The event that the transition appends, if any. */
  readonly event: EventType | null;
  /** Whether the caller must hold the recipient's lease. Otherwise there must be no live lease. */
  readonly leased: boolean;
}

/**
 * The only ways in which a state changes. Terminal states are final except for later reports: bounces and complaints
 * that arrive by email, and deliveries confirmed by a worker that was presumed lost.
 */
export const transitions = {
  reschedule: { from: ['scheduled', 'queued'], to: 'scheduled', event: null, leased: false },
  release: { from: ['scheduled'], to: 'queued', event: 'email.queued', leased: false },
  claim: { from: ['queued', 'deferred'], to: 'sending', event: null, leased: false },
  take_over: { from: ['sending'], to: 'sending', event: null, leased: false },
  hand_back: { from: ['sending'], to: 'queued', event: null, leased: true },
  deliver: { from: ['sending'], to: 'delivered', event: 'email.delivered', leased: true },
  defer: { from: ['sending'], to: 'deferred', event: 'email.delivery_delayed', leased: true },
  reject: { from: ['sending'], to: 'bounced', event: 'email.bounced', leased: true },
  lose: { from: ['sending'], to: 'failed', event: 'email.failed', leased: false },
  expire: { from: ['sending'], to: 'failed', event: 'email.failed', leased: true },
  give_up: { from: ['queued', 'deferred'], to: 'failed', event: 'email.failed', leased: false },
  retry: { from: ['deferred'], to: 'deferred', event: null, leased: false },
  suppress: { from: ['queued', 'deferred', 'sending'], to: 'suppressed', event: 'email.suppressed', leased: false },
  cancel: { from: ['scheduled', 'queued', 'deferred'], to: 'canceled', event: 'email.canceled', leased: false },
  find_sent: {
    from: ['scheduled', 'queued', 'deferred', 'sending'],
    to: 'delivered',
    event: 'email.delivered',
    leased: false,
  },
  // A worker that was presumed lost reports a delivery that it completed before anyone else sent the message.
  confirm: { from: ['queued', 'failed'], to: 'delivered', event: 'email.delivered', leased: false },
  bounce: { from: ['delivered'], to: 'bounced', event: 'email.bounced', leased: false },
  complain: { from: ['delivered'], to: 'complained', event: 'email.complained', leased: false },
} as const satisfies Record<string, Transition>;
export type TransitionName = keyof typeof transitions;

export type StateCounts = Readonly<Partial<Record<DeliveryState, number>>>;

/** Returns a message's status from the counts of its recipients' states. */
export function messageStatus(recipients: StateCounts): DeliveryState {
  const lowest = deliveryStates.find((state) => (recipients[state] ?? 0) > 0);
  if (!lowest) throw new Error('a message has no recipient');
  return lowest;
}
