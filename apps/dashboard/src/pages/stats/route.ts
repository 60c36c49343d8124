import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/routes.ts';
import { oneOf, searchOf } from '../../shell/search.ts';
import { dimensions, rangeNames } from './ranges.ts';

export const statsRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/metrics',
    validateSearch: searchOf({ range: oneOf(...rangeNames), by: oneOf(...dimensions), view: oneOf('table') }),
    component: lazyRouteComponent(() => import('./stats-page.tsx'), 'StatsPage'),
  }),
] as const;
