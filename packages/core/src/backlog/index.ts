export { type Backlog, type BacklogRow, getBacklog } from './get-backlog.ts';
export { BACKLOG_MS, refreshBacklog } from './refresh-backlog.ts';
export { type BacklogDimension, backlogDimensions } from './store.ts';
