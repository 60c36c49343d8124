export const webhookStatuses = ['enabled', 'disabled'] as const;
export type WebhookStatus = (typeof webhookStatuses)[number];
/** Why an endpoint is disabled: by request, by a 410 response, or after five days of failures. */
export const statusReasons = ['manual', 'gone', 'failing'] as const;
export type StatusReason = (typeof statusReasons)[number];
