/**
 * Earlier paths and where their pages are now. Bookmarks, alerts and audit entries still name them. The second form of
 * a pair is for the instance.
 */
const MOVED: readonly (readonly [earlier: string, page: string, instance_page?: string])[] = [
  ['/inbox', '/emails/test-inbox'],
  ['/compose', '/emails/new'],
  ['/stats', '/metrics'],
  ['/requests', '/logs'],
  ['/settings/workspace', '/settings/general'],
  ['/settings/alarms', '/settings/alerts', '/instance/status'],
  ['/settings/audit', '/settings/audit-log', '/instance/audit-log'],
  ['/settings/erasures', '/settings/retention'],
  ['/operations/health', '/settings/alerts', '/instance/status'],
  ['/operations/incident', '/delivery/incidents', '/instance/incidents'],
  ['/operations/backlog', '/delivery/backlog', '/instance/delivery/backlog'],
  ['/operations/holds', '/delivery/holds', '/instance/delivery/holds'],
  ['/operations/bulk', '/delivery/bulk-actions', '/instance/delivery/bulk-actions'],
  ['/operations', '/instance', '/instance'],
];

/** Addresses of a section, which are those of its first page. */
const FIRST_PAGES: Readonly<Record<string, string>> = {
  '/delivery': '/delivery/backlog',
  '/settings': '/settings/api-keys',
  '/instance': '/instance/status',
  '/instance/delivery': '/instance/delivery/backlog',
};

/** Search parameters that once selected the instance, whose pages have paths of their own now. */
const INSTANCE_PARAMS = ['reach', 'side', 'chain'] as const;

/** Returns the route of a URL: `/w/{workspace}/emails` is `/emails`. Earlier paths return the route of today. */
export function toRoute(url: URL): URL {
  const route = new URL(url);
  const path = url.pathname.replace(/^\/w\/[^/]+/, '').replace(/(.)\/$/, '$1') || '/';
  const of_instance = path.startsWith('/instance') || INSTANCE_PARAMS.some((name) => isInstance(url, name));
  const earlier_path = path
    .replace(/^\/instance(?=\/operations(?:\/|$))/, '')
    .replace(/^\/instance(?=\/(?:health|incident|backlog|holds|bulk)(?:\/|$))/, '/operations');
  const moved = MOVED.find(([earlier]) => earlier_path === earlier || earlier_path.startsWith(`${earlier}/`));
  if (moved) {
    const [earlier, page, instance_page = page] = moved;
    route.pathname = (of_instance ? instance_page : page) + earlier_path.slice(earlier.length);
    for (const name of INSTANCE_PARAMS) route.searchParams.delete(name);
  } else {
    route.pathname = path;
  }
  route.pathname = FIRST_PAGES[route.pathname] ?? route.pathname;
  return route;
}

// The router writes text that looks like JSON in quotes.
function isInstance(url: URL, name: string): boolean {
  return url.searchParams.get(name)?.replaceAll('"', '') === 'instance';
}
