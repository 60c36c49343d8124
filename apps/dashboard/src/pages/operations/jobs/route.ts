import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { type JobState, jobStates } from './job-states.ts';

interface JobsSearch {
  readonly queue?: string;
  readonly state?: JobState;
  readonly subject?: string;
  /** The job in the drawer. */
  readonly job?: string;
  readonly open?: 'redrive';
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

export const jobRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/jobs',
    validateSearch(search: Record<string, unknown>): JobsSearch {
      const [queue, subject, job] = [textOf(search.queue), textOf(search.subject), textOf(search.job)];
      const state = jobStates.find((name) => name === search.state);
      return {
        ...(queue && { queue }),
        ...(state && { state }),
        ...(subject && { subject }),
        ...(job && { job }),
        ...(search.open === 'redrive' && { open: search.open }),
      };
    },
    component: lazyRouteComponent(() => import('./jobs-page.tsx'), 'JobsPage'),
  }),
] as const;
