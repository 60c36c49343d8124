import type { Inputs } from '../../api/trpc.ts';

type EventName = NonNullable<Inputs['webhooks']['test']['type']>;

// Total, so that a new type of event breaks the build here.
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

/** The types that an endpoint can choose; docs/webhooks.md describes each. */
export const eventNames: readonly string[] = Object.keys(known);
