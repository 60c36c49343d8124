import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { type IncidentAction, incidentActions, type Range, rangeNames } from './ranges.ts';

interface IncidentSearch {
  /** The start of the incident; by default an hour ago. */
  readonly since?: string;
  readonly until?: string;
  /** While it moves: how far back it goes. */
  readonly range?: Range;
  readonly reach?: 'instance';
  readonly view?: 'table';
  readonly open?: IncidentAction;
  /** The destination of the open dialog. */
  readonly target?: string;
}

const timeOf = (value: unknown) =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? new Date(value).toISOString() : undefined;

export const incidentRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/incident',
    validateSearch(search: Record<string, unknown>): IncidentSearch {
      const [since, until] = [timeOf(search.since), timeOf(search.until)];
      const open = incidentActions.find((name) => name === search.open);
      const range = rangeNames.find((name) => name === search.range);
      return {
        ...(range && { range }),
        ...(since && { since }),
        ...(until && { until }),
        ...(search.reach === 'instance' && { reach: 'instance' }),
        ...(search.view === 'table' && { view: 'table' }),
        ...(open && typeof search.target === 'string' && { open, target: search.target }),
      };
    },
    component: lazyRouteComponent(() => import('./incident-page.tsx'), 'IncidentPage'),
  }),
] as const;
