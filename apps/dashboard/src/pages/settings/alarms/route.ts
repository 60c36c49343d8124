import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { flag, oneOf, searchOf } from '../../../shell/search.ts';

export const alarmRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/alerts',
    /** Whether to also show resolved alerts, and the open dialog. */
    validateSearch: searchOf({ ended: flag, open: oneOf('secret') }),
    component: lazyRouteComponent(() => import('./alarms-page.tsx'), 'AlarmsPage'),
  }),
] as const;
