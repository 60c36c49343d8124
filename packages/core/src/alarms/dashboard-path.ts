import { INSTANCE } from '../operation/access.ts';

/**
 * Returns the path of a dashboard page: within a workspace, or the same page for the instance. Pages that only the
 * instance has are named by their whole path.
 */
export function dashboardPath(workspace_id: string, page: string): string {
  if (page.startsWith('/instance/')) return page;
  if (workspace_id !== INSTANCE) return `/w/${workspace_id}${page === '/' ? '' : page}`;
  return page.startsWith('/delivery/incidents') ? page.replace('/delivery', '/instance') : `/instance${page}`;
}
