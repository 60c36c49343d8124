import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queries, trpc } from '../../api/trpc.ts';
import { shellRoute } from '../../shell/routes.ts';
import { oneOf, searchOf, text } from '../../shell/search.ts';
import { contentTabs } from './content-tabs.ts';
import { LazyEmailDetail } from './detail/lazy-detail.ts';

const readers = {
  tab: oneOf(...contentTabs),
  /** The dialog for the open email or for the selected emails. */
  action: oneOf('cancel', 'giveUp', 'resend', 'reschedule'),
};

interface Open {
  readonly open?: string | undefined;
}

const list = {
  getParentRoute: () => shellRoute,
  validateSearch: searchOf({
    /** The search, in the syntax of search-grammar.ts. */
    q: text,
    /** The email shown in the drawer. */
    open: text,
    ...readers,
  }),
  loaderDeps: ({ search: { open } }: { search: Open }) => ({ open }),
  // Also runs for a row under the pointer, so the drawer is there when the row is clicked.
  loader: ({ deps: { open } }: { deps: Open }) => {
    if (open !== undefined) void LazyEmailDetail.preload?.();
  },
  component: lazyRouteComponent(() => import('./emails-page.tsx'), 'EmailsPage'),
};

export const emailRoutes = [
  createRoute({ ...list, path: '/emails' }),
  createRoute({ ...list, path: '/emails/scheduled' }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/emails/$id',
    validateSearch: searchOf(readers),
    loader: ({ params: { id } }) => void queries.prefetchQuery(trpc.emails.get.queryOptions({ id })),
    component: lazyRouteComponent(() => import('./detail/email-page.tsx'), 'EmailPage'),
  }),
] as const;
