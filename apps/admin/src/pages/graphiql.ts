import type { Services } from '@postrider/core';
import { Hono } from 'hono';
import type { AdminEnv } from '../admin-env.ts';
import { requireSession } from '../session/session.ts';

// The page inlines its script and connects to this host only; its editor runs in blob workers.
const PAGE_POLICY =
  "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob:; style-src 'unsafe-inline'; " +
  "img-src data:; font-src data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

const START = `# Name a key with the scope admin or operator under Headers: {"Authorization": "Bearer pr_live_…"}
# Then press "Re-fetch GraphQL schema" on the left, for completion and the docs.
{
  messages(first: 10) {
    nodes { id status subject }
  }
}
`;

/** GraphiQL for signed-in users; its queries still need an API key. */
export function graphiqlRoutes(services: Services): Hono<AdminEnv> {
  const routes = new Hono<AdminEnv>();
  routes.use(requireSession(services));
  routes.get('/', async (context) => {
    // 9 MB, so it is loaded on first use.
    const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
    context.header('content-security-policy', PAGE_POLICY);
    return context.html(
      renderGraphiQL({
        endpoint: '/graphql',
        title: 'Postrider GraphQL',
        defaultQuery: START,
        // A pasted API key must not stay in a shared browser.
        shouldPersistHeaders: false,
        credentials: 'omit',
      }),
    );
  });
  return routes;
}
