import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { oneOf, searchOf, text } from '../../../shell/search.ts';

export const workspacesRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/workspaces',
    validateSearch: searchOf({
      open: oneOf('new', 'plan', 'delete'),
      /** The plan being changed or deleted. */
      plan: text,
    }),
    component: lazyRouteComponent(() => import('./workspaces-page.tsx'), 'WorkspacesPage'),
  }),
] as const;
