import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { type BacklogAction, backlogActions, type Dimension, dimensions } from './dimensions.ts';

interface BacklogSearch {
  readonly by?: Dimension;
  readonly reach?: 'instance';
  readonly open?: BacklogAction;
  /** Of the open dialog: the row, or the hold that is released. */
  readonly target?: string;
  /** Of the open dialog: the column. */
  readonly age?: number;
}

export const backlogRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/backlog',
    validateSearch(search: Record<string, unknown>): BacklogSearch {
      const by = dimensions.find((name) => name === search.by);
      const open = backlogActions.find((name) => name === search.open);
      return {
        ...(by && { by }),
        ...(search.reach === 'instance' && { reach: 'instance' }),
        ...(open && typeof search.target === 'string' && { open, target: search.target }),
        ...(typeof search.age === 'number' && { age: search.age }),
      };
    },
    component: lazyRouteComponent(() => import('./backlog-page.tsx'), 'BacklogPage'),
  }),
] as const;
