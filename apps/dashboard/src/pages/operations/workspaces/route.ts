import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { oneOf, searchOf, text } from '../../../shell/search.ts';

export const workspacesRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/instance/workspaces',
    validateSearch: searchOf({
      open: oneOf('new'),
    }),
    component: lazyRouteComponent(() => import('./workspaces-page.tsx'), 'WorkspacesPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/instance/plans',
    validateSearch: searchOf({
      open: oneOf('plan', 'delete'),
      /** The plan being changed or deleted. */
      plan: text,
    }),
    component: lazyRouteComponent(() => import('./plans-page.tsx'), 'PlansPage'),
  }),
] as const;
