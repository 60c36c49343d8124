/** Returns the route and search of a dashboard URL, without the workspace or /instance. */
export function routePath(url: string): string {
  const { pathname, search } = new URL(url, 'http://dashboard.test');
  const path = pathname.replace(/^\/w\/wsp_[^/]+/, '').replace(/^\/instance/, '/operations');
  return (path || '/') + search;
}
