import { AppError, type ErrorDetail, fieldNames, likelyMeant } from '@postrider/core';
import { type Route, routes } from './routes.ts';

export interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

const MAX_PATH_SHOWN = 200;
const MAX_NAME_SHOWN = 100;
const MAX_UNKNOWN_SHOWN = 20;
const routeMethods = ['GET', 'POST', 'PATCH', 'DELETE'] as const satisfies readonly Route['method'][];

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

/**
 * Finds the row for a method and a path below /v1. A wrong method matches no row, like a wrong path. HEAD is treated as
 * GET.
 */
export function matchRoute(method: string, path: string): Match | null {
  const verb = method === 'HEAD' ? 'GET' : method;
  const exact = fixed.get(`${verb} ${path}`);
  if (exact) return { route: exact, params: {} };
  // PATCH /email/send is a wrong method, not a request for the message "send".
  if (fixed_paths.has(path)) return null;
  const parts = path.split('/');
  for (const { route, segments } of patterns) {
    if (route.method !== verb || segments.length !== parts.length) continue;
    const params = matchSegments(segments, parts);
    if (params) return { route, params };
  }
  return null;
}

/** Returns the methods that a path below /v1 supports. */
export function methodsOf(path: string): readonly string[] {
  return routeMethods.filter((method) => matchRoute(method, path) !== null);
}

/** Returns the error for a request that matches no row. The message suggests what the client probably meant. */
export function routeNotFound(method: string, path: string): AppError {
  const message = `No route for ${method} ${path.slice(0, MAX_PATH_SHOWN)}`;
  const tidy = path
    .toLowerCase()
    .replace(/\/{2,}/g, '/')
    .replace(/(.)\/+$/, '$1');
  const below = (text: string) => (text.startsWith('/v1/') ? text.slice('/v1'.length) : '');
  const methods = methodsOf(below(path));
  if (methods.length > 0) return notFound(`${message}. This path supports ${methods.join(', ')}.`);
  const tidied = methodsOf(below(tidy));
  if (tidied.length > 0) {
    const spelling = path.endsWith('/') ? 'without the trailing slash' : 'spelled so';
    return notFound(
      `${message}. The path is ${tidy.slice(0, MAX_PATH_SHOWN)}, ${spelling}, and supports ${tidied.join(', ')}.`,
    );
  }
  return notFound(`${message}. See /v1/openapi.json for all endpoints.`);
}

function notFound(message: string): AppError {
  return new AppError('route_not_found', message);
}

/** Returns the parameters of a path, or null if it does not match the pattern. */
export function matchSegments(segments: readonly string[], parts: readonly string[]): Record<string, string> | null {
  const params: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const text = parts[index] ?? '';
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

/** The matched route with the request's query applied, and the errors in that query. */
export interface RequestMatch {
  readonly match: Match;
  readonly faults: readonly ErrorDetail[];
}

/** Applies the query to a match. With ?dry_run=true, the match gets its route's dry-run operation. */
export function requestOf(match: Match, query: URLSearchParams): RequestMatch {
  const { route } = match;
  const known = parametersOf(route);
  const unknown = [...new Set(query.keys())].filter((name) => !known.includes(name));
  const faults = unknown.slice(0, MAX_UNKNOWN_SHOWN).map((name) => unknownParameter(route, name, known));
  const values = route.dry_run_operation === null ? [] : query.getAll('dry_run');
  if (route.dry_run_operation === null || values.every((value) => value === 'false')) return { match, faults };
  if (values.length > 1 || values[0] !== 'true')
    faults.push({ param: 'dry_run', reason: 'invalid_type', message: 'dry_run must be true or false.' });
  const dry_run: Route = { ...route, operation: route.dry_run_operation, status: 200, self_admitting: false };
  return { match: { ...match, route: dry_run }, faults };
}

const parameters_by_route = new WeakMap<Route, readonly string[]>();

/** Returns the names allowed in a route's query. */
export function parametersOf(route: Route): readonly string[] {
  let known = parameters_by_route.get(route);
  if (!known) {
    const fields = route.method === 'GET' ? fieldNames(route.operation.input) : [];
    known = [
      ...fields.filter((name) => !route.path.includes(`{${name}}`)),
      ...(route.dry_run_operation ? ['dry_run'] : []),
    ];
    parameters_by_route.set(route, known);
  }
  return known;
}

function unknownParameter(route: Route, name: string, known: readonly string[]): ErrorDetail {
  const short_name = name.slice(0, MAX_NAME_SHOWN).toWellFormed();
  const suggestion = likelyMeant(name, known);
  const takes = known.length === 0 ? 'takes none' : `takes ${known.join(', ')}`;
  const hint = suggestion === null ? '' : ` Did you mean ${suggestion}?`;
  const message = `${short_name} is not a parameter; ${route.method} /v1${route.path} ${takes}.${hint}`;
  return { param: short_name, reason: 'unknown_parameter', message };
}
