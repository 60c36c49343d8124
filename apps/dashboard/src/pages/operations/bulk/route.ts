import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queries, trpc } from '../../../api/trpc.ts';
import { shellRoute } from '../../../shell/routes.ts';
import { oneOf, searchOf } from '../../../shell/search.ts';
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
    validateSearch: searchOf({ outcome: oneOf(...outcomes) }),
    loader: ({ params: { id } }) => void queries.prefetchQuery(trpc.ops.bulkGet.queryOptions({ id })),
    component: lazyRouteComponent(() => import('./run-page.tsx'), 'RunPage'),
  }),
] as const;
