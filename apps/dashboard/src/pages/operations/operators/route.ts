import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

interface OperatorsSearch {
  readonly open?: 'new' | 'remove';
  /** The operator that is removed. */
  readonly operator?: string;
}

export const operatorRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/operators',
    validateSearch: ({ open, operator }: Record<string, unknown>): OperatorsSearch => ({
      ...((open === 'new' || open === 'remove') && { open }),
      ...(typeof operator === 'string' && operator !== '' && { operator }),
    }),
    component: lazyRouteComponent(() => import('./operators-page.tsx'), 'OperatorsPage'),
  }),
] as const;
