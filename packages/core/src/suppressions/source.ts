/** What put an address on the list: a person, a file of a person's, a server that refused the mailbox, or its owner. */
export const suppressionSources = ['manual', 'import', 'bounce', 'complaint'] as const;
export type SuppressionSource = (typeof suppressionSources)[number];
