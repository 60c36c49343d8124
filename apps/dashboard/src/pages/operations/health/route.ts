import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { flag, oneOf, searchOf } from '../../../shell/search.ts';

export const healthRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/instance/status',
    validateSearch: searchOf({ ended: flag, open: oneOf('secret') }),
    component: lazyRouteComponent(() => import('./health-page.tsx'), 'HealthPage'),
  }),
] as const;
