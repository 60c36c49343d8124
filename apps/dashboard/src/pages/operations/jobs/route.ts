import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { oneOf, searchOf, text } from '../../../shell/search.ts';
import { jobStates } from './job-states.ts';

export const jobRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/instance/jobs',
    validateSearch: searchOf({
      queue: text,
      state: oneOf(...jobStates),
      subject: text,
      /** The job shown in the drawer. */
      job: text,
      open: oneOf('redrive'),
    }),
    component: lazyRouteComponent(() => import('./jobs-page.tsx'), 'JobsPage'),
  }),
] as const;
