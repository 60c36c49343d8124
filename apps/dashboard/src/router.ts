import { createRouter } from '@tanstack/react-router';
import { composeRoutes } from './pages/compose/route.ts';
import { domainRoutes } from './pages/domains/route.ts';
import { emailRoutes } from './pages/emails/route.ts';
import { inboxRoutes } from './pages/inbox/route.ts';
import { missingRoutes } from './pages/missing/route.ts';
import { holdRoutes } from './pages/operations/holds/route.ts';
import { queueRoutes } from './pages/operations/queues/route.ts';
import { workerRoutes } from './pages/operations/workers/route.ts';
import { overviewRoutes } from './pages/overview/route.ts';
import { requestRoutes } from './pages/requests/route.ts';
import { apiKeyRoutes } from './pages/settings/api-keys/route.ts';
import { auditRoutes } from './pages/settings/audit/route.ts';
import { signInRoutes } from './pages/sign-in/route.ts';
import { statsRoutes } from './pages/stats/route.ts';
import { suppressionRoutes } from './pages/suppressions/route.ts';
import { webhookRoutes } from './pages/webhooks/route.ts';
import { PageFailed } from './shell/page-failed.tsx';
import { rootRoute, shellRoute } from './shell/routes.ts';

// Every area of pages adds its routes here, and its row to shell/navigation.ts.
const routeTree = rootRoute.addChildren([
  ...signInRoutes,
  shellRoute.addChildren([
    ...overviewRoutes,
    ...emailRoutes,
    ...statsRoutes,
    ...inboxRoutes,
    ...composeRoutes,
    ...domainRoutes,
    ...requestRoutes,
    ...apiKeyRoutes,
    ...auditRoutes,
    ...suppressionRoutes,
    ...webhookRoutes,
    ...queueRoutes,
    ...workerRoutes,
    ...holdRoutes,
    ...missingRoutes,
  ]),
]);

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  defaultErrorComponent: PageFailed,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
