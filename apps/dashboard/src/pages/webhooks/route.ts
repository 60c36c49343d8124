import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/routes.ts';
import { type DeliveryState, deliveryStates, dialogs, type Language, languages, type WebhookDialog } from './search.ts';

interface WebhookSearch {
  readonly open?: WebhookDialog;
  readonly status?: DeliveryState;
  /** Of the snippets. */
  readonly in?: Language;
  /** The delivery whose drawer is open. */
  readonly delivery?: string;
}

export const webhookRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/webhooks',
    validateSearch: ({ open }: Record<string, unknown>): { readonly open?: 'new' } => (open === 'new' ? { open } : {}),
    component: lazyRouteComponent(() => import('./webhooks-page.tsx'), 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/webhooks/$id',
    validateSearch(given: Record<string, unknown>): WebhookSearch {
      const open = dialogs.find((name) => name === given.open);
      const status = deliveryStates.find((name) => name === given.status);
      const language = languages.find((name) => name === given.in);
      const { delivery } = given;
      return {
        ...(open && { open }),
        ...(status && { status }),
        ...(language && { in: language }),
        ...(typeof delivery === 'string' && delivery !== '' && { delivery }),
      };
    },
    component: lazyRouteComponent(() => import('./webhook-page.tsx'), 'WebhookPage'),
  }),
] as const;
