import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queries, trpc } from '../../api/trpc.ts';
import { shellRoute } from '../../shell/routes.ts';
import { oneOf, searchOf } from '../../shell/search.ts';
import { domainDialogs } from './dialogs.ts';

export const domainRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/domains',
    validateSearch: searchOf({ open: oneOf('new') }),
    component: lazyRouteComponent(() => import('./domains-page.tsx'), 'DomainsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/domains/$name',
    validateSearch: searchOf({ open: oneOf(...domainDialogs) }),
    loader: ({ params: { name } }) => void queries.prefetchQuery(trpc.domains.get.queryOptions({ domain: name })),
    component: lazyRouteComponent(() => import('./domain-page.tsx'), 'DomainPage'),
  }),
] as const;
