import { createRouter } from '@tanstack/react-router';
import { composeRoutes } from './pages/compose/route.ts';
import { domainRoutes } from './pages/domains/route.ts';
import { emailRoutes } from './pages/emails/route.ts';
import { inboxRoutes } from './pages/inbox/route.ts';
import { missingRoutes } from './pages/missing/route.ts';
import { backlogRoutes } from './pages/operations/backlog/route.ts';
import { bulkRoutes } from './pages/operations/bulk/route.ts';
import { healthRoutes } from './pages/operations/health/route.ts';
import { holdRoutes } from './pages/operations/holds/route.ts';
import { incidentRoutes } from './pages/operations/incident/route.ts';
import { jobRoutes } from './pages/operations/jobs/route.ts';
import { operatorRoutes } from './pages/operations/operators/route.ts';
import { queueRoutes } from './pages/operations/queues/route.ts';
import { storageRoutes } from './pages/operations/storage/route.ts';
import { transportRoutes } from './pages/operations/transports/route.ts';
import { workerRoutes } from './pages/operations/workers/route.ts';
import { workspacesRoutes } from './pages/operations/workspaces/route.ts';
import { overviewRoutes } from './pages/overview/route.ts';
import { requestRoutes } from './pages/requests/route.ts';
import { accountRoutes } from './pages/settings/account/route.ts';
import { alarmRoutes } from './pages/settings/alarms/route.ts';
import { apiKeyRoutes } from './pages/settings/api-keys/route.ts';
import { auditRoutes } from './pages/settings/audit/route.ts';
import { erasureRoutes } from './pages/settings/erasures/route.ts';
import { memberRoutes } from './pages/settings/members/route.ts';
import { workspaceRoutes } from './pages/settings/workspace/route.ts';
import { signInRoutes } from './pages/sign-in/route.ts';
import { statsRoutes } from './pages/stats/route.ts';
import { suppressionRoutes } from './pages/suppressions/route.ts';
import { webhookRoutes } from './pages/webhooks/route.ts';
import { PageFailed } from './shell/page-failed.tsx';
import { PagePending } from './shell/page-pending.tsx';
import { leaveEarlierPath, urlPath } from './shell/paths.ts';
import { rootRoute, shellRoute } from './shell/routes.ts';
import { toRoute } from './shell/to-route.ts';

// A new page adds its routes here and a row to shell/navigation.ts.
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
    ...storageRoutes,
    ...workerRoutes,
    ...holdRoutes,
    ...backlogRoutes,
    ...bulkRoutes,
    ...transportRoutes,
    ...healthRoutes,
    ...incidentRoutes,
    ...jobRoutes,
    ...operatorRoutes,
    ...workspacesRoutes,
    ...accountRoutes,
    ...alarmRoutes,
    ...erasureRoutes,
    ...memberRoutes,
    ...workspaceRoutes,
    ...missingRoutes,
  ]),
]);

leaveEarlierPath();

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  defaultErrorComponent: PageFailed,
  defaultPendingComponent: PagePending,
  defaultPendingMs: 300,
  defaultPendingMinMs: 0,
  // Pages that share a component must not share a selection.
  defaultRemountDeps: ({ routeId }) => routeId,
  scrollRestoration: true,
  rewrite: {
    input: ({ url }) => toRoute(url),
    output: ({ url }) => {
      url.pathname = urlPath(url.pathname);
      return url;
    },
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
