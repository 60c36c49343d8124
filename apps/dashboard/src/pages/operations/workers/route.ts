import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

export const workerRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/workers',
    component: lazyRouteComponent(() => import('./workers-page.tsx'), 'WorkersPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/schedules',
    component: lazyRouteComponent(() => import('./schedules-page.tsx'), 'SchedulesPage'),
  }),
] as const;
