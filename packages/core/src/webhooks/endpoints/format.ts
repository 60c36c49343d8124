import { type EventType, eventTypes } from '../../events/index.ts';
import { refuseFields } from '../../operation/errors.ts';

/** The payload, event names and headers that an endpoint receives. */
export const webhookFormats = ['postrider', 'resend'] as const;
export type WebhookFormat = (typeof webhookFormats)[number];

/** Resend's name for each event; null if it has none. */
export const resendNames: Readonly<Record<EventType, string | null>> = {
  'email.queued': 'email.sent',
  'email.scheduled': 'email.scheduled',
  'email.delivered': 'email.delivered',
  'email.delivery_delayed': 'email.delivery_delayed',
  'email.bounced': 'email.bounced',
  'email.complained': 'email.complained',
  'email.failed': 'email.failed',
  'email.suppressed': 'email.suppressed',
  'email.canceled': null,
  'domain.verified': 'domain.updated',
  'domain.at_risk': 'domain.updated',
  'domain.failed': 'domain.updated',
  'webhook.failing': null,
  'webhook.disabled': null,
  'suppression.added': 'suppression.added',
  'suppression.removed': 'suppression.removed',
  'quota.warning': null,
};

/**
 * Returns the event types that an endpoint receives; null (all) is narrowed to the types that its format has a name
 * for.
 */
export function eventsIn(format: WebhookFormat, events: readonly EventType[] | null): readonly EventType[] | null {
  if (format === 'postrider') return events;
  if (events === null) return eventTypes.filter((type) => resendNames[type] !== null).sort();
  requireNamed(format, events);
  return events;
}

/** Rejects types that the format has no name for. */
export function requireNamed(format: WebhookFormat, types: readonly EventType[]): void {
  const strange = format === 'resend' ? types.find((type) => resendNames[type] === null) : undefined;
  if (strange === undefined) return;
  const message = `${strange} does not exist in the resend format. Omit it or use the postrider format.`;
  throw refuseFields([{ param: 'events', reason: 'invalid_type', message }]);
}
