import { type Context, Hono } from 'hono';
import { getCookie } from 'hono/cookie';
import { html } from 'hono/html';
import type { AdminEnv } from '../../admin-env.ts';
import { page } from '../page.ts';
import { type BuiltFile, type BuiltFiles, type Encoding, themes } from './built-files.ts';

export type DashboardState =
  | { readonly kind: 'ready'; readonly files: BuiltFiles }
  | { readonly kind: 'building' }
  | { readonly kind: 'failed'; readonly why: string };

/** Called for each request, because in development the dashboard is built while the server runs. */
export type DashboardSource = () => DashboardState;

const POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "frame-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";

export function dashboardRoutes(source: DashboardSource): Hono<AdminEnv> {
  const routes = new Hono<AdminEnv>();
  routes.get('/assets/*', (context) => {
    const state = source();
    const file = state.kind === 'ready' ? state.files.assets.get(context.req.path) : undefined;
    if (!file) return context.notFound();
    context.header('cache-control', 'public, max-age=31536000, immutable');
    return send(context, file);
  });
  return routes;
}

/** Serves the dashboard for a client-side route, such as a bookmarked one. */
export function startDashboard(context: Context<AdminEnv>, source: DashboardSource): Response | Promise<Response> {
  const state = source();
  switch (state.kind) {
    case 'ready': {
      const cookie = getCookie(context, 'theme');
      const theme = themes.find((name) => name === cookie) ?? 'system';
      context.header('content-security-policy', POLICY);
      return send(context, state.files.start[theme]);
    }
    case 'building':
      context.header('refresh', '1');
      return context.html(
        page('Building the dashboard', html`<p>This takes about 3 seconds. The page reloads automatically.</p>`),
        503,
      );
    case 'failed':
      return context.html(
        page(
          'The dashboard is not built',
          html`<p>The API, GraphQL and the command line still work.</p><pre>${state.why}</pre>`,
        ),
        503,
      );
  }
}

/** Returns whether the request comes from a browser loading a page, rather than a program fetching data. */
export function wantsPage(context: Context): boolean {
  return context.req.method === 'GET' && (context.req.header('accept') ?? '').includes('text/html');
}

function send(context: Context, file: BuiltFile): Response {
  const accepted = context.req.header('accept-encoding') ?? '';
  const preferred = (['br', 'gzip'] as const).find((name) => accepted.includes(name) && file.bodies[name]);
  const encoding: Encoding = preferred ?? 'identity';
  context.header('content-type', file.type);
  context.header('vary', 'accept-encoding');
  if (encoding !== 'identity') context.header('content-encoding', encoding);
  return context.body(file.bodies[encoding] ?? '');
}
