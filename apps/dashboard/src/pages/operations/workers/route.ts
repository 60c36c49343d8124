import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { searchOf, text } from '../../../shell/search.ts';

export const workerRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/instance/workers',
    /** The worker shown in the drawer. */
    validateSearch: searchOf({ worker: text }),
    component: lazyRouteComponent(() => import('./workers-page.tsx'), 'WorkersPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/instance/schedules',
    /** The schedule shown in the drawer. */
    validateSearch: searchOf({ schedule: text }),
    component: lazyRouteComponent(() => import('./schedules-page.tsx'), 'SchedulesPage'),
  }),
] as const;
