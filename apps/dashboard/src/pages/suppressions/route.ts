import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/routes.ts';
import { oneOf, searchOf, text } from '../../shell/search.ts';

export const suppressionRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/suppressions',
    validateSearch: searchOf({ open: oneOf('new'), remove: text, source: text, email: text }),
    component: lazyRouteComponent(() => import('./suppressions-page.tsx'), 'SuppressionsPage'),
  }),
] as const;
