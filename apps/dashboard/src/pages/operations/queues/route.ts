import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queries, trpc } from '../../../api/trpc.ts';
import { shellRoute } from '../../../shell/routes.ts';
import { oneOf, searchOf, text } from '../../../shell/search.ts';
import { queueRanges } from './ranges.ts';

export const queueRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/instance/queues',
    validateSearch: searchOf({
      /** The queue whose dialog is open. */
      hold: text,
      /** The hold whose dialog is open. */
      release: text,
    }),
    component: lazyRouteComponent(() => import('./queues-page.tsx'), 'QueuesPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/instance/queues/$name',
    validateSearch: searchOf({
      range: oneOf(...queueRanges),
      view: oneOf('table'),
      open: oneOf('hold', 'release', 'concurrency', 'redrive'),
    }),
    loader: ({ params: { name } }) => void queries.prefetchQuery(trpc.ops.queue.queryOptions({ queue: name })),
    component: lazyRouteComponent(() => import('./queue-page.tsx'), 'QueuePage'),
  }),
] as const;
