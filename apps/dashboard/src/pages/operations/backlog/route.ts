import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { type Dimension, dimensions } from './dimensions.ts';

interface BacklogSearch {
  readonly by?: Dimension;
  readonly reach?: 'instance';
  /** The destination whose limit is edited. */
  readonly limit?: string;
}

export const backlogRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/backlog',
    validateSearch(search: Record<string, unknown>): BacklogSearch {
      const by = dimensions.find((name) => name === search.by);
      return {
        ...(by && { by }),
        ...(search.reach === 'instance' && { reach: 'instance' }),
        ...(typeof search.limit === 'string' && { limit: search.limit }),
      };
    },
    component: lazyRouteComponent(() => import('./backlog-page.tsx'), 'BacklogPage'),
  }),
] as const;
