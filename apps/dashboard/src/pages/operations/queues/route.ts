import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../../shell/routes.ts';
import { type QueueRange, queueRanges } from './ranges.ts';

interface QueuesSearch {
  /** The queue whose dialog is open. */
  readonly hold?: string;
  /** The hold whose dialog is open. */
  readonly release?: string;
}

interface QueueSearch {
  readonly range?: QueueRange;
  readonly view?: 'table';
  readonly open?: 'hold' | 'release' | 'concurrency' | 'redrive';
}

const named = (given: unknown): given is string => typeof given === 'string' && given !== '';

export const queueRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/queues',
    validateSearch: ({ hold, release }: Record<string, unknown>): QueuesSearch => ({
      ...(named(hold) && { hold }),
      ...(named(release) && { release }),
    }),
    component: lazyRouteComponent(() => import('./queues-page.tsx'), 'QueuesPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/operations/queues/$name',
    validateSearch(given: Record<string, unknown>): QueueSearch {
      const range = queueRanges.find((name) => name === given.range);
      const open = (['hold', 'release', 'concurrency', 'redrive'] as const).find((name) => name === given.open);
      return { ...(range && { range }), ...(given.view === 'table' && { view: 'table' }), ...(open && { open }) };
    },
    component: lazyRouteComponent(() => import('./queue-page.tsx'), 'QueuePage'),
  }),
] as const;
