import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { number, oneOf, searchOf, text } from '../../../shell/search.ts';

export const transportRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/instance/delivery/transports',
    validateSearch: searchOf({
      open: oneOf('new', 'edit', 'test', 'delete', 'rule'),
      /** The transport of the open dialog. */
      transport: text,
      /** The position of the rule being changed, from 1; absent for a new rule. */
      rule: number,
    }),
    component: lazyRouteComponent(() => import('./transports-page.tsx'), 'TransportsPage'),
  }),
] as const;
