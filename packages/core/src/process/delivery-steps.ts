import { channel } from 'node:diagnostics_channel';

/** The steps of a delivery, in order. */
export const deliverySteps = [
  'fetched',
  'claimed',
  'rendered',
  'signed',
  'connected',
  'content sent',
  'response',
  'settled',
] as const;
export type DeliveryStep = (typeof deliverySteps)[number];

export interface ReachedStep {
  readonly step: DeliveryStep;
  readonly message_id: string;
}

export const DELIVERY_STEPS_CHANNEL = 'postrider:delivery-steps';
const reached = channel(DELIVERY_STEPS_CHANNEL);

/** Publishes that a message reached a step, for a profiler. Without a subscriber, this costs one check. */
export function reachStep(step: DeliveryStep, message_id: string): void {
  if (reached.hasSubscribers) reached.publish({ step, message_id } satisfies ReachedStep);
}
