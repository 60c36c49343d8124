import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

interface AuditSearch {
  /** Shows the entries of the instance instead of the workspace's. */
  readonly chain?: 'instance';
  readonly target?: string;
  /** The entry in the drawer. */
  readonly open?: string;
}

export const auditRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/audit',
    validateSearch: ({ chain, target, open }: Record<string, unknown>): AuditSearch => ({
      ...(chain === 'instance' && { chain }),
      ...(typeof target === 'string' && target !== '' && { target }),
      ...(typeof open === 'string' && open !== '' && { open }),
    }),
    component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
  }),
] as const;
