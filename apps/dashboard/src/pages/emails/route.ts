import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/routes.ts';
import { type ContentTab, contentTabs } from './content-tabs.ts';

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

interface EmailsSearch {
  /** The search, in the grammar of search-grammar.ts. */
  readonly q?: string;
  /** The mail in the drawer. */
  readonly open?: string;
  readonly tab?: ContentTab;
  readonly action?: EmailAction;
}

/** The dialog of the shown mail, or that of the chosen ones. */
type EmailAction = 'cancel' | 'giveUp' | 'resend' | 'reschedule';

const actionOf = (value: unknown) => (['cancel', 'giveUp', 'resend', 'reschedule'] as const).find((name) => name === value);

export const emailRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/emails',
    validateSearch(search: Record<string, unknown>): EmailsSearch {
      const [q, open] = [textOf(search.q), textOf(search.open)];
      const tab = contentTabs.find((name) => name === search.tab);
      const action = actionOf(search.action);
      return { ...(q && { q }), ...(open && { open }), ...(tab && { tab }), ...(action && { action }) };
    },
    component: lazyRouteComponent(() => import('./emails-page.tsx'), 'EmailsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/emails/$id',
    validateSearch(search: Record<string, unknown>): Pick<EmailsSearch, 'tab' | 'action'> {
      const tab = contentTabs.find((name) => name === search.tab);
      const action = actionOf(search.action);
      return { ...(tab && { tab }), ...(action && { action }) };
    },
    component: lazyRouteComponent(() => import('./detail/email-page.tsx'), 'EmailPage'),
  }),
] as const;
