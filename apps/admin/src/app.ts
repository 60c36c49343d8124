import { AppError, errorBody, newId, type Services } from '@postrider/core';
import { createClientAddress } from '@postrider/net';
import { Hono } from 'hono';
import type { AdminEnv } from './admin-env.ts';
import { docRoutes, llmsFullText, llmsText } from './docs/doc-routes.ts';
import type { GraphqlApi } from './graphql/graphql-api.ts';
import { contentRoutes } from './pages/content-links.ts';
import {
  type DashboardSource,
  dashboardRoutes,
  startDashboard,
  wantsPage,
} from './pages/dashboard/dashboard-routes.ts';
import { toWorkspace } from './pages/dashboard/to-workspace.ts';
import { errorRoutes } from './pages/error-pages.ts';
import { graphiqlRoutes } from './pages/graphiql.ts';
import { loginRoutes } from './pages/login-pages.ts';
import { PAGE_POLICY } from './pages/page-policy.ts';
import { previewRoutes } from './pages/preview.ts';
import { traced } from './traced.ts';
import { trpcRoutes } from './trpc/trpc-routes.ts';

/** Returns the routes of the admin role. */
export function createApp(
  services: Services,
  loadGraphql: () => Promise<GraphqlApi>,
  dashboard: DashboardSource,
): Hono<AdminEnv> {
  const app = new Hono<AdminEnv>();
  const clientAddress = createClientAddress(services.config.TRUSTED_PROXIES);
  app.use(async (context, next) => {
    context.set('request_id', newId('request', services.clock.now()));
    const { incoming } = context.env;
    context.set('address', clientAddress(incoming.socket, incoming.headers['x-forwarded-for']));
    await next();
    // The header lets open tabs detect that a newer dashboard has been deployed.
    const state = dashboard();
    if (state.kind === 'ready') context.header('x-dashboard-release', state.files.release);
    context.header('x-request-id', context.var.request_id);
    context.header('x-content-type-options', 'nosniff');
    if (!context.res.headers.has('referrer-policy')) context.header('referrer-policy', 'no-referrer');
    if (!context.res.headers.has('cache-control')) context.header('cache-control', 'no-store');
    if (!context.res.headers.has('content-security-policy')) context.header('content-security-policy', PAGE_POLICY);
  });
  app.route('/', dashboardRoutes(dashboard));
  app.route('/', loginRoutes(services, dashboard));
  app.route('/content', contentRoutes(services));
  app.route('/errors', errorRoutes(services.public_url));
  app.route('/docs', docRoutes(services));
  app.get('/llms.txt', (context) => context.text(llmsText(services.public_url)));
  let full_text: string | null = null;
  app.get('/llms-full.txt', (context) => {
    full_text ??= llmsFullText(services.public_url);
    return context.text(full_text);
  });
  for (const path of ['/preview/*', '/graphiql'])
    app.get(path, async (context, next) => (await toWorkspace(services, context)) ?? next());
  app.get('/', async (context) => {
    const redirect = wantsPage(context) ? await toWorkspace(services, context) : null;
    return redirect ?? startDashboard(context, dashboard);
  });
  // Without a workspace in the path, requests act in the session's default one.
  for (const base of ['', '/w/:workspace_id']) {
    app.route(`${base}/preview`, previewRoutes(services));
    app.use(`${base}/trpc/*`, traced(services, '/trpc'));
    app.route(`${base}/trpc`, trpcRoutes(services));
    app.route(`${base}/graphiql`, graphiqlRoutes(services));
  }
  app.use('/graphql', traced(services, '/graphql'));
  app.all('/graphql', async (context) => (await loadGraphql()).reply(context));
  app.notFound(async (context) => {
    const { path } = context.req;
    if (wantsPage(context) && !/^(?:\/w\/[^/]*)?\/(?:assets|trpc|graphql|preview)(?:\/|$)/.test(path))
      return (await toWorkspace(services, context)) ?? startDashboard(context, dashboard);
    const message =
      'Page not found. The API is at /v1 (documented at /docs and /v1/openapi.json), and the dashboard is at /.';
    const error = new AppError('route_not_found', message);
    return context.json(errorBody(error, context.var.request_id, services.public_url), 404);
  });
  app.onError((error, context) => {
    const { request_id } = context.var;
    services.log.error({ err: error, request_id }, 'failed to serve a page');
    const failure = new AppError('unexpected', 'Something went wrong. Try again.');
    return context.json(errorBody(failure, request_id, services.public_url), 500);
  });
  return app;
}
