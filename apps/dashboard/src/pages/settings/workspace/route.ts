import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

export const workspaceRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/workspace',
    validateSearch: ({ view }: Record<string, unknown>): { readonly view?: 'table' } =>
      view === 'table' ? { view } : {},
    component: lazyRouteComponent(() => import('./workspace-page.tsx'), 'WorkspacePage'),
  }),
] as const;
