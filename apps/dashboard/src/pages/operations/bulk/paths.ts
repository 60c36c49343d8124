/** The list of bulk actions, by what the page covers. */
export const paths = { workspace: '/delivery/bulk-actions', instance: '/instance/delivery/bulk-actions' } as const;
