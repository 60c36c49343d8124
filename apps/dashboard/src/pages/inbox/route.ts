import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/routes.ts';
import { oneOf, searchOf, text } from '../../shell/search.ts';
import { captureTabs } from './search.ts';

const readers = {
  tab: oneOf(...captureTabs),
  /** The dialog of the open capture, or of all captures. */
  action: oneOf('release', 'clear'),
};

export const inboxRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/emails/test-inbox',
    validateSearch: searchOf({
      q: text,
      /** The email shown in the drawer. */
      open: text,
      ...readers,
    }),
    component: lazyRouteComponent(() => import('./inbox-page.tsx'), 'InboxPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/emails/test-inbox/$id',
    validateSearch: searchOf(readers),
    component: lazyRouteComponent(() => import('./capture-page.tsx'), 'CapturePage'),
  }),
] as const;
