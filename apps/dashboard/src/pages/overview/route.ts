import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/routes.ts';
import { oneOf, searchOf } from '../../shell/search.ts';
import { languages } from './languages.ts';

export const overviewRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/',
    validateSearch: searchOf({
      view: oneOf('table'),
      /** The language of the first program. */
      code: oneOf(...languages),
    }),
    component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
  }),
] as const;
