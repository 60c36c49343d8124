import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { flag, oneOf, searchOf, text } from '../../../shell/search.ts';

export const holdRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/holds',
    validateSearch: searchOf({
      open: oneOf('new'),
      /** The hold whose dialog is open. */
      release: text,
      /** Whether to also show holds that have ended. */
      ended: flag,
    }),
    component: lazyRouteComponent(() => import('./holds-page.tsx'), 'HoldsPage'),
  }),
] as const;
