import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { oneOf, searchOf, text, time } from '../../../shell/search.ts';
import { incidentActions, rangeNames } from './ranges.ts';

const page = {
  getParentRoute: () => shellRoute,
  validateSearch: searchOf({
    /** The start of the incident. Defaults to an hour ago. */
    since: time,
    until: time,
    /** How far back a moving range goes. */
    range: oneOf(...rangeNames),
    view: oneOf('table'),
    open: oneOf(...incidentActions),
    /** The destination of the open dialog. */
    target: text,
  }),
  component: lazyRouteComponent(() => import('./incident-page.tsx'), 'IncidentPage'),
};

export const incidentRoutes = [
  createRoute({ ...page, path: '/delivery/incidents' }),
  createRoute({ ...page, path: '/instance/incidents' }),
] as const;
