import { INSTANCE } from '../operation/access.ts';

/** Returns the path of a dashboard page within a workspace, or for the instance. */
export function dashboardPath(workspace_id: string, page: string): string {
  if (workspace_id === INSTANCE) return page.replace(/^\/operations(?=\/)/, '/instance');
  return `/w/${workspace_id}${page === '/' ? '' : page}`;
}
