import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { oneOf, searchOf } from '../../../shell/search.ts';

export const workspaceRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/general',
    validateSearch: searchOf({ view: oneOf('table') }),
    component: lazyRouteComponent(() => import('./workspace-page.tsx'), 'WorkspacePage'),
  }),
] as const;
