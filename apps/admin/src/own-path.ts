const NOWHERE = 'http://own.invalid';

/**
 * Where to go after signing in, as asked for by a page that anybody may have linked to: a path here, or the front page.
 * Browsers read `/\host` and a path with a tab in it as another host, so the parser that they have decides.
 */
export function ownPath(wanted: string | undefined): string {
  if (!wanted?.startsWith('/') || !URL.canParse(wanted, NOWHERE)) return '/';
  const { origin, pathname, search, hash } = new URL(wanted, NOWHERE);
  return origin === NOWHERE && !pathname.startsWith('//') ? pathname + search + hash : '/';
}
