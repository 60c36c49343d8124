/** The search parameters of the page. */
export const dialogs = ['edit', 'rotate', 'recover', 'replay', 'delete'] as const;
export type WebhookDialog = (typeof dialogs)[number];
export const deliveryStates = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof deliveryStates)[number];
