export const contentTabs = ['preview', 'text', 'source', 'checks', 'headers', 'raw', 'code'] as const;
export type ContentTab = (typeof contentTabs)[number];
