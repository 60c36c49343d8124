/** Every event that is recorded, and so every type that a webhook can name. */
export const eventTypes = [
  'email.queued',
  'email.scheduled',
  'email.delivered',
  'email.delivery_delayed',
  'email.bounced',
  'email.complained',
  'email.failed',
  'email.suppressed',
  'email.canceled',
  'suppression.added',
  'suppression.removed',
  'domain.verified',
  'domain.at_risk',
  'domain.failed',
] as const;
export type EventType = (typeof eventTypes)[number];

/** What happens to a whole message and is recorded once for it; every other event of mail is about one recipient. */
const messageEventTypes = ['email.queued', 'email.scheduled', 'email.canceled'] as const satisfies readonly EventType[];
type MessageEventType = (typeof messageEventTypes)[number];

export function isMessageEvent(type: EventType): type is MessageEventType {
  return messageEventTypes.some((known) => known === type);
}
