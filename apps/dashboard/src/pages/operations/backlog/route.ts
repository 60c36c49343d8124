import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { number, oneOf, searchOf, text } from '../../../shell/search.ts';
import { backlogActions, dimensions } from './search.ts';

const page = {
  getParentRoute: () => shellRoute,
  validateSearch: searchOf({
    by: oneOf(...dimensions),
    open: oneOf(...backlogActions),
    /** The row of the open dialog, or the hold being released. */
    target: text,
    /** The column of the open dialog. */
    age: number,
  }),
  component: lazyRouteComponent(() => import('./backlog-page.tsx'), 'BacklogPage'),
};

export const backlogRoutes = [
  createRoute({ ...page, path: '/delivery/backlog' }),
  createRoute({ ...page, path: '/instance/delivery/backlog' }),
] as const;
