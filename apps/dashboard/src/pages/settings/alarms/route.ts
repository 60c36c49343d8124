import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

export const alarmRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/alarms',
    validateSearch: ({ side }: Record<string, unknown>): { readonly side?: 'instance' } =>
      side === 'instance' ? { side } : {},
    component: lazyRouteComponent(() => import('./alarms-page.tsx'), 'AlarmsPage'),
  }),
] as const;
