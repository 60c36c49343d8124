import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/routes.ts';

export const composeRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/emails/new',
    component: lazyRouteComponent(() => import('./compose-page.tsx'), 'ComposePage'),
  }),
] as const;
