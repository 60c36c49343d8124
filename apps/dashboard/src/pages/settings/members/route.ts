import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

export const memberRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/members',
    validateSearch: ({
      open,
      member,
    }: Record<string, unknown>): { readonly open?: 'new' | 'remove'; readonly member?: string } => ({
      ...((open === 'new' || open === 'remove') && { open }),
      ...(typeof member === 'string' && member !== '' && { member }),
    }),
    component: lazyRouteComponent(() => import('./members-page.tsx'), 'MembersPage'),
  }),
] as const;
