/** Waiting for an attempt, acknowledged with 2xx, or given up. */
export const webhookDeliveryStates = ['pending', 'delivered', 'failed'] as const;
export type WebhookDeliveryState = (typeof webhookDeliveryStates)[number];
