import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

export const workerRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/instance/workers',
    component: lazyRouteComponent(() => import('./workers-page.tsx'), 'WorkersPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/instance/schedules',
    component: lazyRouteComponent(() => import('./schedules-page.tsx'), 'SchedulesPage'),
  }),
] as const;
