import { inWorkspace } from '../api/workspace.ts';

/** Pages that belong to the instance, not to a workspace. */
const INSTANCE_PAGE = /^\/operations\/(?:queues|jobs|workers|schedules|storage|workspaces|operators)(?:\/|$)/;

/** Returns the route of a URL: `/w/{workspace}/emails` is `/emails`, and `/instance/queues` is `/operations/queues`. */
export function routePath(pathname: string): string {
  const instance_path = pathname.replace(/^\/instance(?=\/|$)/, '/operations');
  return instance_path.replace(/^\/w\/[^/]+/, '') || '/';
}

/** Returns the URL of a route, with this tab's workspace or under /instance. */
export function urlPath(route_path: string): string {
  if (INSTANCE_PAGE.test(route_path)) return route_path.replace('/operations', '/instance');
  if (/^\/login(?:\/|$)/.test(route_path)) return route_path;
  return inWorkspace(route_path === '/' ? '' : route_path) || '/';
}
