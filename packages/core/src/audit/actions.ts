/** Everything that the audit log tells of. An action is named by what it is done to, and what was done. */
export const auditActions = [
  'api_key.created',
  'api_key.revoked',
  'domain.added',
  'domain.removed',
  'domain.suspended',
  'domain.keys_rotated',
  'webhook.created',
  'webhook.updated',
  'webhook.deleted',
  'webhook.secret_rotated',
  'webhook.recovered',
  'delivery.replayed',
  'suppression.added',
  'suppression.removed',
  'message.canceled',
  'message.rescheduled',
  'message.resent',
  'message.content_read',
  'destination.limited',
  'destination.released',
] as const;
export type AuditAction = (typeof auditActions)[number];
