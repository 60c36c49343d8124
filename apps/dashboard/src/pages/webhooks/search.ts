/** The dialogs of the page. */
export const dialogs = ['edit', 'rotate', 'recover', 'delete', 'verify'] as const;
export type WebhookDialog = (typeof dialogs)[number];
export const deliveryStates = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof deliveryStates)[number];
/** The languages of the signature verification snippets. */
export const languages = ['typescript', 'python', 'go', 'php', 'shell'] as const;
export type Language = (typeof languages)[number];
