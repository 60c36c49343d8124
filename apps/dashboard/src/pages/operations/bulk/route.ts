import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { outcomes } from './outcomes.ts';

export const bulkRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/bulk',
    component: lazyRouteComponent(() => import('./bulk-page.tsx'), 'BulkPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/bulk/$id',
    validateSearch({ outcome }: Record<string, unknown>): { readonly outcome?: (typeof outcomes)[number] } {
      const found = outcomes.find((name) => name === outcome);
      return found ? { outcome: found } : {};
    },
    component: lazyRouteComponent(() => import('./run-page.tsx'), 'RunPage'),
  }),
] as const;
