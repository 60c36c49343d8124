import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';

interface IncidentSearch {
  /** The start of the incident; by default an hour ago. */
  readonly since?: string;
  readonly until?: string;
  readonly reach?: 'instance';
  readonly view?: 'table';
}

const timeOf = (value: unknown) =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? new Date(value).toISOString() : undefined;

export const incidentRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/incident',
    validateSearch(search: Record<string, unknown>): IncidentSearch {
      const [since, until] = [timeOf(search.since), timeOf(search.until)];
      return {
        ...(since && { since }),
        ...(until && { until }),
        ...(search.reach === 'instance' && { reach: 'instance' }),
        ...(search.view === 'table' && { view: 'table' }),
      };
    },
    component: lazyRouteComponent(() => import('./incident-page.tsx'), 'IncidentPage'),
  }),
] as const;
