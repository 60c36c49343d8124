import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { oneOf, searchOf, text } from '../../../shell/search.ts';

export const memberRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/members',
    validateSearch: searchOf({ open: oneOf('new', 'remove', 'resend', 'revoke'), member: text, invitation: text }),
    component: lazyRouteComponent(() => import('./members-page.tsx'), 'MembersPage'),
  }),
] as const;
