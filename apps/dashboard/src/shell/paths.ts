import { inWorkspace } from '../api/workspace.ts';
import { toRoute } from './to-route.ts';

/** Returns the URL path of a route: within this tab's workspace, or as it is if it needs none. */
export function urlPath(route_path: string): string {
  if (/^\/(?:instance|login)(?:\/|$)/.test(route_path)) return route_path;
  return inWorkspace(route_path === '/' ? '' : route_path) || '/';
}

/** Returns the URL path, with its search, of a route. */
export function hrefOf(route: string): string {
  const { pathname, search } = new URL(route, location.origin);
  return urlPath(pathname) + search;
}

/** Replaces an earlier path in the address bar. The router itself keeps one whose page needs no workspace. */
export function leaveEarlierPath(): void {
  const { pathname, search } = toRoute(new URL(location.href));
  const path = urlPath(pathname) + search;
  if (path !== location.pathname + location.search) history.replaceState(history.state, '', path + location.hash);
}

/** Returns the route, with its search, of a path that the server returned. */
export function routeOf(path: string): string {
  const { pathname, search } = toRoute(new URL(path, location.origin));
  return pathname + search;
}
