import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { oneOf, searchOf } from '../../../shell/search.ts';

export const alarmRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/alarms',
    validateSearch: searchOf({ side: oneOf('instance') }),
    component: lazyRouteComponent(() => import('./alarms-page.tsx'), 'AlarmsPage'),
  }),
] as const;
