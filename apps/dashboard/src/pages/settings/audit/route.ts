import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { searchOf, text } from '../../../shell/search.ts';

const page = {
  getParentRoute: () => shellRoute,
  validateSearch: searchOf({
    target: text,
    /** The entry shown in the drawer. */
    open: text,
  }),
  component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
};

export const auditRoutes = [
  createRoute({ ...page, path: '/settings/audit-log' }),
  createRoute({ ...page, path: '/instance/audit-log' }),
] as const;
