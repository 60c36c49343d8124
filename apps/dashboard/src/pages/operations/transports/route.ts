import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { number, oneOf, searchOf, text } from '../../../shell/search.ts';

const page = {
  getParentRoute: () => shellRoute,
  validateSearch: searchOf({
    open: oneOf('new', 'edit', 'test', 'feedback', 'delete', 'rule'),
    /** The dialog over the open drawer. */
    action: oneOf('setFeedback', 'removeFeedback'),
    /** The transport of the open dialog. */
    transport: text,
    /** The position of the rule being changed, from 1; absent for a new rule. */
    rule: number,
  }),
  component: lazyRouteComponent(() => import('./transports-page.tsx'), 'TransportsPage'),
};

export const transportRoutes = [
  createRoute({ ...page, path: '/settings/transports' }),
  createRoute({ ...page, path: '/instance/delivery/transports' }),
] as const;
