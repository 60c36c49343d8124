import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/routes.ts';
import { type CaptureTab, captureTabs } from './search.ts';

interface InboxSearch {
  readonly q?: string;
  /** The mail in the drawer. */
  readonly open?: string;
  readonly tab?: CaptureTab;
  readonly action?: CaptureAction;
}

/** The dialog of the shown capture, or that of all of them. */
type CaptureAction = 'release' | 'clear';

const actionOf = (value: unknown) => (['release', 'clear'] as const).find((name) => name === value);

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

export const inboxRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/inbox',
    validateSearch(search: Record<string, unknown>): InboxSearch {
      const [q, open] = [textOf(search.q), textOf(search.open)];
      const tab = captureTabs.find((name) => name === search.tab);
      const action = actionOf(search.action);
      return { ...(q && { q }), ...(open && { open }), ...(tab && { tab }), ...(action && { action }) };
    },
    component: lazyRouteComponent(() => import('./inbox-page.tsx'), 'InboxPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/inbox/$id',
    validateSearch(search: Record<string, unknown>): Pick<InboxSearch, 'tab' | 'action'> {
      const tab = captureTabs.find((name) => name === search.tab);
      const action = actionOf(search.action);
      return { ...(tab && { tab }), ...(action && { action }) };
    },
    component: lazyRouteComponent(() => import('./capture-page.tsx'), 'CapturePage'),
  }),
] as const;
