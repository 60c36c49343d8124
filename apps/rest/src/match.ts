import { AppError, likelyMeant } from '@postrider/core';
import { type Route, routes } from './routes.ts';

export interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

const fixed = new Map<string, Route>();
const fixed_paths = new Set<string>();
const patterns: { readonly route: Route; readonly segments: readonly string[] }[] = [];
for (const route of routes) {
  if (route.path.includes('{')) patterns.push({ route, segments: route.path.split('/') });
  else {
    fixed.set(`${route.method} ${route.path}`, route);
    fixed_paths.add(route.path);
  }
}

/** Finds the row for a method and a path below /v1. A wrong method is no row, like a wrong path. */
export function matchRoute(method: string, path: string): Match | null {
  const exact = fixed.get(`${method} ${path}`);
  if (exact) return { route: exact, params: {} };
  // PATCH /email/send is a wrong method, and not the message "send".
  if (fixed_paths.has(path)) return null;
  const given = path.split('/');
  for (const { route, segments } of patterns) {
    if (route.method !== method || segments.length !== given.length) continue;
    const params = matchSegments(segments, given);
    if (params) return { route, params };
  }
  return null;
}

/** The parameters of a path, or null where it does not fit the pattern. */
export function matchSegments(segments: readonly string[], given: readonly string[]): Record<string, string> | null {
  const params: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const text = given[index] ?? '';
    if (!segment.startsWith('{')) {
      if (segment !== text) return null;
      continue;
    }
    const value = decodeSegment(text);
    if (value === null || value === '') return null;
    params[segment.slice(1, -1)] = value;
  }
  return params;
}

function decodeSegment(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/**
 * The match with ?dry_run=true applied. A dry_run that cannot be honoured is refused, because the alternative would be to
 * send for real.
 */
export function rehearsed(match: Match, query: URLSearchParams): Match | AppError {
  for (const name of query.keys()) {
    const plain = name.toLowerCase().replaceAll('-', '_');
    if (name === 'dry_run' || (plain !== 'dry_run' && likelyMeant(plain, ['dry_run']) === null)) continue;
    const message = `${name} is not a parameter; did you mean dry_run?`;
    return new AppError('misspelled_field', message, {
      details: [{ param: name, reason: 'misspelled_field', message }],
    });
  }
  const asked = query.getAll('dry_run');
  if (asked.length === 0 || asked.every((value) => value === 'false')) return match;
  const { route } = match;
  if (route.rehearsal === null || asked.length > 1 || asked[0] !== 'true') {
    return new AppError('invalid_type', 'dry_run is true or false, and is offered by POST /v1/email/send only.');
  }
  return { ...match, route: { ...route, operation: route.rehearsal, status: 200, self_admitting: false } };
}
