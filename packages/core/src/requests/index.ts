export { getRequest, listRequests } from './list-requests.ts';
export type { RequestEntry } from './request-entry.ts';
export { requestGroups } from './request-groups.ts';
export { createRequestLog, keptDays } from './request-log.ts';
export { tendRequestDays } from './store.ts';
