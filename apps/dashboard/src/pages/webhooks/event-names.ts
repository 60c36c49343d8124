import type { Inputs } from '../../api/trpc.ts';

type EventName = NonNullable<Inputs['webhooks']['test']['type']>;

// Exhaustive, so that a new event type breaks the build here.
const known: Readonly<Record<EventName, true>> = {
  'email.queued': true,
  'email.scheduled': true,
  'email.delivered': true,
  'email.delivery_delayed': true,
  'email.bounced': true,
  'email.complained': true,
  'email.failed': true,
  'email.suppressed': true,
  'email.canceled': true,
  'domain.verified': true,
  'domain.at_risk': true,
  'domain.failed': true,
  'webhook.failing': true,
  'webhook.disabled': true,
  'suppression.added': true,
  'suppression.removed': true,
  'quota.warning': true,
};

/** The event types that an endpoint can subscribe to. docs/webhooks.md describes each one. */
export const eventNames: readonly string[] = Object.keys(known);
