import { createClientAddress, newId, type Services } from '@postrider/core';
import type { QueryRefunds } from '@postrider/core/usage';
import { Hono } from 'hono';
import type { AdminEnv } from './admin-env.ts';
import { captureRoutes } from './captured.ts';
import { errorRoutes } from './error-pages.ts';
import { graphiqlRoutes } from './graphiql.ts';
import type { KnownQueries } from './graphql/known-queries.ts';
import { graphqlRoutes } from './graphql/routes.ts';
import { loginRoutes } from './login-pages.ts';
import { PAGE_POLICY } from './page-policy.ts';
import { trpcRoutes } from './trpc/trpc-routes.ts';

/** The pages for people. A plain one shows captured mail; each error reason has one to link to. */
export function createApp(services: Services, refunds: QueryRefunds, known: KnownQueries): Hono<AdminEnv> {
  const app = new Hono<AdminEnv>();
  const clientAddress = createClientAddress(services.config.TRUSTED_PROXIES);
  app.use(async (context, next) => {
    context.set('request_id', newId('request', services.clock.now()));
    context.set('address', clientAddress(context.env.incoming));
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
            'There is no such page; the API is under /v1, described by /v1/openapi.json, and captured mail is at /captured.',
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
