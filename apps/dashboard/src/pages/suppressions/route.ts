import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/routes.ts';
import { oneOf, searchOf, text } from '../../shell/search.ts';

export const suppressionRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/suppressions',
    validateSearch: searchOf({
      open: oneOf('new'),
      remove: text,
      source: text,
      /** The address that the list is searched for. */
      email: text,
      /** The address shown in the drawer. */
      address: text,
    }),
    component: lazyRouteComponent(() => import('./suppressions-page.tsx'), 'SuppressionsPage'),
  }),
] as const;
