import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/routes.ts';
import { type Dimension, dimensions, type Range, rangeNames } from './ranges.ts';

interface StatsSearch {
  readonly range?: Range;
  readonly by?: Dimension;
  readonly view?: 'table';
}

export const statsRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/stats',
    validateSearch(search: Record<string, unknown>): StatsSearch {
      const range = rangeNames.find((name) => name === search.range);
      const by = dimensions.find((name) => name === search.by);
      return { ...(range && { range }), ...(by && { by }), ...(search.view === 'table' && { view: 'table' }) };
    },
    component: lazyRouteComponent(() => import('./stats-page.tsx'), 'StatsPage'),
  }),
] as const;
