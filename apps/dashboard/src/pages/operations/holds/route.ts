import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

interface HoldsSearch {
  readonly open?: 'new';
  /** The hold whose dialog is open. */
  readonly release?: string;
}

export const holdRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/holds',
    validateSearch: ({ open, release }: Record<string, unknown>): HoldsSearch => ({
      ...(open === 'new' && { open }),
      ...(typeof release === 'string' && release !== '' && { release }),
    }),
    component: lazyRouteComponent(() => import('./holds-page.tsx'), 'HoldsPage'),
  }),
] as const;
