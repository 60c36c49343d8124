// Written by `node scripts/write-sdk.ts` from docs/openapi.json.

/** Every type of event. */
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
  'domain.verified',
  'domain.at_risk',
  'domain.failed',
  'webhook.failing',
  'webhook.disabled',
  'suppression.added',
  'suppression.removed',
  'quota.warning',
] as const;

/** Every scope of an API key. */
export const scopes = [
  'email:send',
  'email:logs:read',
  'domains:read',
  'domains:write',
  'webhooks:manage',
  'admin',
  'operator',
] as const;
