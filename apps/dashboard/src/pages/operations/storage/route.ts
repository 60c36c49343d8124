import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

export const storageRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/instance/storage',
    component: lazyRouteComponent(() => import('./storage-page.tsx'), 'StoragePage'),
  }),
] as const;
