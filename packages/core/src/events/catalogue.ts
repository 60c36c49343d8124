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
] as const;
export type EventType = (typeof eventTypes)[number];
