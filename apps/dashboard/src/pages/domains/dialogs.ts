/** The dialogs of the domain page, by their name in the URL. */
export const domainDialogs = ['remove', 'rotate', 'suspend', 'resume'] as const;
export type DomainDialog = (typeof domainDialogs)[number];
