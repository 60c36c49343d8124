import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queries, trpc } from '../../api/trpc.ts';
import { shellRoute } from '../../shell/routes.ts';
import { oneOf, searchOf, text } from '../../shell/search.ts';
import { deliveryStates, dialogs, languages } from './search.ts';

export const webhookRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/webhooks',
    validateSearch: searchOf({ open: oneOf('new') }),
    component: lazyRouteComponent(() => import('./webhooks-page.tsx'), 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/webhooks/$id',
    validateSearch: searchOf({
      open: oneOf(...dialogs),
      status: oneOf(...deliveryStates),
      /** The language of the snippets. */
      in: oneOf(...languages),
      /** The delivery shown in the drawer. */
      delivery: text,
    }),
    loader: ({ params: { id } }) => void queries.prefetchQuery(trpc.webhooks.get.queryOptions({ id })),
    component: lazyRouteComponent(() => import('./webhook-page.tsx'), 'WebhookPage'),
  }),
] as const;
