import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

export const healthRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/health',
    validateSearch: ({ ended }: Record<string, unknown>): { readonly ended?: true } =>
      ended === true ? { ended } : {},
    component: lazyRouteComponent(() => import('./health-page.tsx'), 'HealthPage'),
  }),
] as const;
