/** Why an address is suppressed: its server refused the mailbox, its owner complained, or a person asked for it. */
export const suppressionReasons = ['bounce', 'complaint', 'manual'] as const;
export type SuppressionReason = (typeof suppressionReasons)[number];
