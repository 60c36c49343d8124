import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queries, trpc } from '../../../api/trpc.ts';
import { shellRoute } from '../../../shell/routes.ts';
import { oneOf, searchOf } from '../../../shell/search.ts';
import { outcomes } from './outcomes.ts';

const list = {
  getParentRoute: () => shellRoute,
  component: lazyRouteComponent(() => import('./bulk-page.tsx'), 'BulkPage'),
};

const run = {
  getParentRoute: () => shellRoute,
  validateSearch: searchOf({ outcome: oneOf(...outcomes) }),
  loader: ({ params: { id } }: { readonly params: { readonly id: string } }) =>
    void queries.prefetchQuery(trpc.ops.bulkGet.queryOptions({ id })),
  component: lazyRouteComponent(() => import('./run-page.tsx'), 'RunPage'),
};

export const bulkRoutes = [
  createRoute({ ...list, path: '/delivery/bulk-actions' }),
  createRoute({ ...list, path: '/instance/delivery/bulk-actions' }),
  createRoute({ ...run, path: '/delivery/bulk-actions/$id' }),
  createRoute({ ...run, path: '/instance/delivery/bulk-actions/$id' }),
] as const;
