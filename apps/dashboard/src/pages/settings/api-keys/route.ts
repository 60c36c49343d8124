import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { flag, oneOf, searchOf, text } from '../../../shell/search.ts';

export const apiKeyRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/api-keys',
    validateSearch: searchOf({
      open: oneOf('new'),
      rotate: text,
      revoke: text,
      /** The key whose row is marked. */
      key: text,
      /** Whether to also show revoked and expired keys. */
      gone: flag,
    }),
    component: lazyRouteComponent(() => import('./api-keys-page.tsx'), 'ApiKeysPage'),
  }),
] as const;
