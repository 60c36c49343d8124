import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/routes.ts';

interface SuppressionsSearch {
  readonly open?: 'new';
  readonly remove?: string;
  readonly source?: string;
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

export const suppressionRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/suppressions',
    validateSearch({ open, remove, source }: Record<string, unknown>): SuppressionsSearch {
      const [removed, from] = [textOf(remove), textOf(source)];
      return {
        ...(open === 'new' && { open }),
        ...(removed !== undefined && { remove: removed }),
        ...(from !== undefined && { source: from }),
      };
    },
    component: lazyRouteComponent(() => import('./suppressions-page.tsx'), 'SuppressionsPage'),
  }),
] as const;
