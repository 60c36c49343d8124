const NOWHERE = 'http://own.invalid';

/**
 * The redirect target after sign-in, which any page may have linked to: a path of this host, or the front page. Browsers
 * read `/\host` and a path with a tab as another host, so the WHATWG parser decides.
 */
export function ownPath(path: string | undefined): string {
  if (!path?.startsWith('/') || !URL.canParse(path, NOWHERE)) return '/';
  const { origin, pathname, search, hash } = new URL(path, NOWHERE);
  return origin === NOWHERE && !pathname.startsWith('//') ? pathname + search + hash : '/';
}
