import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/routes.ts';
import { type DomainDialog, domainDialogs } from './domain.ts';

export const domainRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/domains',
    validateSearch: ({ open }: Record<string, unknown>): { open?: 'new' } => (open === 'new' ? { open } : {}),
    component: lazyRouteComponent(() => import('./domains-page.tsx'), 'DomainsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/domains/$name',
    validateSearch({ open }: Record<string, unknown>): { open?: DomainDialog } {
      const dialog = domainDialogs.find((name) => name === open);
      return dialog ? { open: dialog } : {};
    },
    component: lazyRouteComponent(() => import('./domain-page.tsx'), 'DomainPage'),
  }),
] as const;
