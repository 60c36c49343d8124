import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { readSearch } from './search.ts';

const page = {
  getParentRoute: () => shellRoute,
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
};

export const auditRoutes = [
  createRoute({ ...page, path: '/settings/audit-log' }),
  createRoute({ ...page, path: '/instance/audit-log' }),
] as const;
