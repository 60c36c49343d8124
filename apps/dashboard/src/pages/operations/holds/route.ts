import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { flag, oneOf, searchOf, text } from '../../../shell/search.ts';

const page = {
  getParentRoute: () => shellRoute,
  validateSearch: searchOf({
    open: oneOf('new'),
    /** The destination that the dialog for a new hold starts with. */
    destination: text,
    /** The hold whose dialog is open. */
    release: text,
    /** The hold whose row is marked. */
    hold: text,
    /** Whether to also show holds that have ended. */
    ended: flag,
  }),
  component: lazyRouteComponent(() => import('./holds-page.tsx'), 'HoldsPage'),
};

export const holdRoutes = [
  createRoute({ ...page, path: '/delivery/holds' }),
  createRoute({ ...page, path: '/instance/delivery/holds' }),
] as const;
