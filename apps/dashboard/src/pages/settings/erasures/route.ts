import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

interface ErasuresSearch {
  /** new, or the id of a receipt. */
  readonly open?: string;
}

export const erasureRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/erasures',
    validateSearch: ({ open }: Record<string, unknown>): ErasuresSearch =>
      typeof open === 'string' && open !== '' ? { open } : {},
    component: lazyRouteComponent(() => import('./erasures-page.tsx'), 'ErasuresPage'),
  }),
] as const;
