/** The page with the transports of each owner. */
export const paths = { workspace: '/settings/transports', instance: '/instance/delivery/transports' } as const;

/** The scope without which the owner's transports can't be changed. */
export const needs = { workspace: 'admin', instance: 'operator' } as const;
