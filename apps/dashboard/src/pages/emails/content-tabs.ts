export const contentTabs = ['preview', 'text', 'source', 'headers', 'raw', 'code'] as const;
export type ContentTab = (typeof contentTabs)[number];
