/** The page with the alerts and the settings of each owner. */
export const paths = { workspace: '/settings/alerts', instance: '/instance/status' } as const;
