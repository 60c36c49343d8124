import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { oneOf, searchOf, text } from '../../../shell/search.ts';

export const operatorRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/instance/operators',
    validateSearch: searchOf({
      open: oneOf('new', 'remove', 'resend', 'revoke'),
      invitation: text,
      /** The operator being removed. */
      operator: text,
    }),
    component: lazyRouteComponent(() => import('./operators-page.tsx'), 'OperatorsPage'),
  }),
] as const;
