import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

export const operatorRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/operators',
    validateSearch: ({ open }: Record<string, unknown>): { readonly open?: 'new' } => (open === 'new' ? { open } : {}),
    component: lazyRouteComponent(() => import('./operators-page.tsx'), 'OperatorsPage'),
  }),
] as const;
