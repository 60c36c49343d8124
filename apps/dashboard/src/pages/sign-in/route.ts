import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../shell/routes.ts';

export const signInRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/login',
    validateSearch: ({ next }: Record<string, unknown>): { next?: string } =>
      typeof next === 'string' ? { next } : {},
    component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/login/link/$token',
    component: lazyRouteComponent(() => import('./link-page.tsx'), 'LinkPage'),
  }),
] as const;
