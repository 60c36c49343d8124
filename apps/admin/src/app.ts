import { newId, type Services } from '@postrider/core';
import type { QueryRefunds } from '@postrider/core/usage';
import { createClientAddress } from '@postrider/net';
import { Hono } from 'hono';
import type { AdminEnv } from './admin-env.ts';
import { graphqlRoutes } from './graphql/http/routes.ts';
import type { KnownQueries } from './graphql/known/known-queries.ts';
import { captureRoutes } from './pages/captured.ts';
import { errorRoutes } from './pages/error-pages.ts';
import { graphiqlRoutes } from './pages/graphiql.ts';
import { loginRoutes } from './pages/login-pages.ts';
import { PAGE_POLICY } from './pages/page-policy.ts';
import { trpcRoutes } from './trpc/trpc-routes.ts';

/** The routes of the admin role. */
export function createApp(services: Services, refunds: QueryRefunds, known: KnownQueries): Hono<AdminEnv> {
  const app = new Hono<AdminEnv>();
  const clientAddress = createClientAddress(services.config.TRUSTED_PROXIES);
  app.use(async (context, next) => {
    context.set('request_id', newId('request', services.clock.now()));
    const { incoming } = context.env;
    context.set('address', clientAddress(incoming.socket, incoming.headers['x-forwarded-for']));
    await next();
    context.header('x-request-id', context.var.request_id);
    context.header('x-content-type-options', 'nosniff');
    if (!context.res.headers.has('referrer-policy')) context.header('referrer-policy', 'no-referrer');
    context.header('cache-control', 'no-store');
    if (!context.res.headers.has('content-security-policy')) context.header('content-security-policy', PAGE_POLICY);
  });
  app.get('/', (context) => context.redirect('/captured'));
  app.route('/', loginRoutes(services));
  app.route('/captured', captureRoutes(services));
  app.route('/errors', errorRoutes());
  app.route('/trpc', trpcRoutes(services));
  app.route('/graphql', graphqlRoutes(services, refunds, known));
  app.route('/graphiql', graphiqlRoutes(services));
  app.notFound((context) =>
    context.json(
      {
        error: {
          code: 'not_found',
          reason: 'route_not_found',
          message:
            'No such page; the API is under /v1, described by /v1/openapi.json, and captured mail is at /captured.',
        },
      },
      404,
    ),
  );
  app.onError((error, context) => {
    const { request_id } = context.var;
    services.log.error({ err: error, request_id }, 'a page failed');
    return context.json(
      { error: { code: 'internal_error', reason: 'unexpected', message: 'The page failed; try again.', request_id } },
      500,
    );
  });
  return app;
}
