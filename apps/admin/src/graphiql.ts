import type { Services } from '@postrider/core';
import { Hono } from 'hono';
import type { AdminEnv } from './admin-env.ts';
import { requireSession } from './session.ts';

// The page brings its program with it and speaks to this host alone; its editor runs in workers made of blobs.
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

/** A page to try GraphQL on, for whoever is signed in; what it asks for takes a key all the same. */
export function graphiqlRoutes(services: Services): Hono<AdminEnv> {
  const routes = new Hono<AdminEnv>();
  routes.use(requireSession(services));
  routes.get('/', async (context) => {
    // Nine megabytes, which only who opens the page should wait for.
    const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
    context.header('content-security-policy', PAGE_POLICY);
    return context.html(
      renderGraphiQL({
        endpoint: '/graphql',
        title: 'Postrider GraphQL',
        defaultQuery: START,
        // The key that somebody pastes is not kept for whoever uses this browser next.
        shouldPersistHeaders: false,
        credentials: 'omit',
      }),
    );
  });
  return routes;
}
