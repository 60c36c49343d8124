/** Returns the route and search of a dashboard URL, without the workspace. */
export function routePath(url: string): string {
  const { pathname, search } = new URL(url, 'http://dashboard.test');
  return (pathname.replace(/^\/w\/wsp_[^/]+/, '') || '/') + search;
}
