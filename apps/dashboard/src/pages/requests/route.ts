import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/routes.ts';

interface RequestsSearch {
  readonly reason?: string;
  /** The request in the drawer. */
  readonly open?: string;
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

export const requestRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/requests',
    validateSearch(search: Record<string, unknown>): RequestsSearch {
      const [reason, open] = [textOf(search.reason), textOf(search.open)];
      return { ...(reason && { reason }), ...(open && { open }) };
    },
    component: lazyRouteComponent(() => import('./requests-page.tsx'), 'RequestsPage'),
  }),
] as const;
