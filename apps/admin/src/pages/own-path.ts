const NOWHERE = 'http://own.invalid';

/**
 * Returns the redirect target after sign-in: a path on this host, or the front page. The target comes from a URL that
 * any page may have linked to. Browsers read `/\host` and paths with a tab as another host, so the WHATWG parser
 * decides.
 */
export function ownPath(path: string | undefined): string {
  if (!path?.startsWith('/') || !URL.canParse(path, NOWHERE)) return '/';
  const { origin, pathname, search, hash } = new URL(path, NOWHERE);
  return origin === NOWHERE && !pathname.startsWith('//') ? pathname + search + hash : '/';
}
