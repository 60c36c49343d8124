import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../shell/routes.ts';
import { searchOf, text } from '../../shell/search.ts';

export const signInRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/login',
    validateSearch: searchOf({ next: text }),
    component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/login/code',
    validateSearch: searchOf({ next: text }),
    component: lazyRouteComponent(() => import('./code-page.tsx'), 'CodePage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/login/link/$token',
    component: lazyRouteComponent(() => import('./link-page.tsx'), 'LinkPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/login/forgot',
    component: lazyRouteComponent(() => import('./forgot-page.tsx'), 'ForgotPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/login/reset/$token',
    component: lazyRouteComponent(() => import('./reset-page.tsx'), 'ResetPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/login/invitation/$token',
    component: lazyRouteComponent(() => import('./invitation-page.tsx'), 'InvitationPage'),
  }),
] as const;
