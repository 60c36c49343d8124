import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

interface HoldsSearch {
  readonly open?: 'new';
  /** The hold whose dialog is open. */
  readonly release?: string;
  /** Those that have ended are shown too. */
  readonly ended?: true;
}

export const holdRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/holds',
    validateSearch: ({ open, release, ended }: Record<string, unknown>): HoldsSearch => ({
      ...(open === 'new' && { open }),
      ...(ended === true && { ended }),
      ...(typeof release === 'string' && release !== '' && { release }),
    }),
    component: lazyRouteComponent(() => import('./holds-page.tsx'), 'HoldsPage'),
  }),
] as const;
