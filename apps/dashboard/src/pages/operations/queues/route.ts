import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

export const queueRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/queues',
    validateSearch: ({ hold }: Record<string, unknown>): { readonly hold?: string } =>
      typeof hold === 'string' && hold !== '' ? { hold } : {},
    component: lazyRouteComponent(() => import('./queues-page.tsx'), 'QueuesPage'),
  }),
] as const;
