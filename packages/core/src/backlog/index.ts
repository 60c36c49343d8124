export { type Backlog, type BacklogRow, backlogOf, getBacklog } from './get-backlog.ts';
export { BACKLOG_MS, refreshBacklog } from './refresh-backlog.ts';
export { backlogDimensions } from './store.ts';
