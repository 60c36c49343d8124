import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

export const workspacesRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/workspaces',
    validateSearch: ({ open }: Record<string, unknown>): { readonly open?: 'new' } => (open === 'new' ? { open } : {}),
    component: lazyRouteComponent(() => import('./workspaces-page.tsx'), 'WorkspacesPage'),
  }),
] as const;
