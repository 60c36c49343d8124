import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/routes.ts';
import { type CaptureTab, captureTabs } from './search.ts';

interface InboxSearch {
  readonly q?: string;
  /** The mail in the drawer. */
  readonly open?: string;
  readonly tab?: CaptureTab;
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

export const inboxRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/inbox',
    validateSearch(search: Record<string, unknown>): InboxSearch {
      const [q, open] = [textOf(search.q), textOf(search.open)];
      const tab = captureTabs.find((name) => name === search.tab);
      return { ...(q && { q }), ...(open && { open }), ...(tab && { tab }) };
    },
    component: lazyRouteComponent(() => import('./inbox-page.tsx'), 'InboxPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/inbox/$id',
    validateSearch(search: Record<string, unknown>): { tab?: CaptureTab } {
      const tab = captureTabs.find((name) => name === search.tab);
      return tab ? { tab } : {};
    },
    component: lazyRouteComponent(() => import('./capture-page.tsx'), 'CapturePage'),
  }),
] as const;
