import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { oneOf, searchOf } from '../../../shell/search.ts';

export const accountRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/account',
    /** The open dialog. */
    validateSearch: searchOf({ open: oneOf('add-app', 'renew-codes', 'remove-app') }),
    component: lazyRouteComponent(() => import('./account-page.tsx'), 'AccountPage'),
  }),
] as const;
