import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { number, oneOf, searchOf, text } from '../../../shell/search.ts';
import { backlogActions, dimensions } from './dimensions.ts';

export const backlogRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/backlog',
    validateSearch: searchOf({
      by: oneOf(...dimensions),
      reach: oneOf('instance'),
      open: oneOf(...backlogActions),
      /** Of the open dialog: the row, or the hold that is released. */
      target: text,
      /** Of the open dialog: the column. */
      age: number,
    }),
    component: lazyRouteComponent(() => import('./backlog-page.tsx'), 'BacklogPage'),
  }),
] as const;
