/**
 * The origin of a suppression: a user, a user's import, a server that rejected the mailbox, or a complaint by its
 * owner.
 */
export const suppressionSources = ['manual', 'import', 'bounce', 'complaint'] as const;
export type SuppressionSource = (typeof suppressionSources)[number];
