import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

export const accountRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/account',
    component: lazyRouteComponent(() => import('./account-page.tsx'), 'AccountPage'),
  }),
] as const;
