import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

export const holdRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/holds',
    validateSearch: ({ open }: Record<string, unknown>): { readonly open?: 'new' } => (open === 'new' ? { open } : {}),
    component: lazyRouteComponent(() => import('./holds-page.tsx'), 'HoldsPage'),
  }),
] as const;
