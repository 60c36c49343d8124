import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { oneOf, searchOf, text } from '../../../shell/search.ts';

export const auditRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/audit',
    validateSearch: searchOf({
      /** Shows the entries of the instance instead of the workspace. */
      chain: oneOf('instance'),
      target: text,
      /** The entry shown in the drawer. */
      open: text,
    }),
    component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
  }),
] as const;
