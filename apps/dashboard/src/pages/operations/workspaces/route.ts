import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

const dialogs = ['new', 'plan', 'delete'] as const;

interface WorkspacesSearch {
  readonly open?: (typeof dialogs)[number];
  /** The plan that is changed or deleted. */
  readonly plan?: string;
}

export const workspacesRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/workspaces',
    validateSearch({ plan, ...given }: Record<string, unknown>): WorkspacesSearch {
      const open = dialogs.find((name) => name === given.open);
      return { ...(open && { open }), ...(typeof plan === 'string' && plan !== '' && { plan }) };
    },
    component: lazyRouteComponent(() => import('./workspaces-page.tsx'), 'WorkspacesPage'),
  }),
] as const;
