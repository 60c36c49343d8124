import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { flag, searchOf } from '../../../shell/search.ts';

export const alarmRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/alerts',
    /** Whether to also show resolved alerts. */
    validateSearch: searchOf({ ended: flag }),
    component: lazyRouteComponent(() => import('./alarms-page.tsx'), 'AlarmsPage'),
  }),
] as const;
