import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/routes.ts';
import { searchOf, text } from '../../shell/search.ts';

export const requestRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/logs',
    validateSearch: searchOf({
      reason: text,
      /** The request shown in the drawer. */
      open: text,
    }),
    component: lazyRouteComponent(() => import('./requests-page.tsx'), 'RequestsPage'),
  }),
] as const;
