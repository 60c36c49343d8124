import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { searchOf, text } from '../../../shell/search.ts';

export const erasureRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/retention',
    validateSearch: searchOf({
      /** `new`, or the ID of a receipt. */
      open: text,
    }),
    component: lazyRouteComponent(() => import('./erasures-page.tsx'), 'ErasuresPage'),
  }),
] as const;
