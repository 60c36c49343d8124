import type { Services } from '@postrider/core';
import { Hono } from 'hono';
import type { AdminEnv } from '../admin-env.ts';
import { requireSession } from '../session/session.ts';

// The page inlines its script and connects only to this host. Its editor runs in blob workers.
const PAGE_POLICY =
  "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob:; style-src 'unsafe-inline'; " +
  "img-src data:; font-src data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

const START = `# Runs with the permissions of your session. To use an API key instead, add it under Headers:
# {"Authorization": "Bearer pr_live_…"}
{
  messages(first: 10) {
    nodes { id status subject }
  }
}
`;

/**
 * Adds a session token to requests without a key. The token stays in the page's memory and is replaced a minute before
 * it expires.
 */
const WITH_TOKEN = `<script>
(() => {
  const plain = window.fetch.bind(window);
  let made = null;
  const ask = async () => {
    const answer = await plain(location.pathname.replace(/\\/graphiql.*/, '/trpc/session.token'), {
      method: 'POST', headers: { 'content-type': 'application/json', 'x-postrider': '1' }, body: '{}',
    });
    if (!answer.ok) return null;
    const { token, expires_at } = (await answer.json()).result.data;
    return { token, until: Date.parse(expires_at) - 60000 };
  };
  const current = async () => {
    const known = await made;
    if (!known || known.until < Date.now()) made = ask();
    return (await made)?.token;
  };
  window.fetch = async (url, init = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has('authorization')) {
      const token = await current();
      if (token) headers.set('authorization', 'Bearer ' + token);
    }
    return plain(url, { ...init, headers });
  };
})();
</script>`;

/** Serves GraphiQL for signed-in users, with the permissions of their session. */
export function graphiqlRoutes(services: Services): Hono<AdminEnv> {
  const routes = new Hono<AdminEnv>();
  routes.use(requireSession(services, 'in a window'));
  routes.get('/', async (context) => {
    // The module is 9 MB, so it is loaded on first use.
    const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
    const page = renderGraphiQL({
      endpoint: '/graphql',
      title: 'Postrider GraphQL',
      defaultQuery: START,
      // A pasted API key must not persist in a shared browser.
      shouldPersistHeaders: false,
      credentials: 'omit',
    });
    context.header('content-security-policy', PAGE_POLICY);
    return context.html(page.replace('<head>', () => `<head>${WITH_TOKEN}`));
  });
  return routes;
}
