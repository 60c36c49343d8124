import { createRootRoute, createRoute } from '@tanstack/react-router';
import { meOptions } from '../api/me.ts';
import { noteArrival } from '../api/session.ts';
import { queries } from '../api/trpc.ts';
import { Shell } from './shell.tsx';

export const rootRoute = createRootRoute();

/** The layout of everything that requires a session: navigation on the left, the page on the right. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: Shell,
  async loader() {
    await queries.ensureQueryData(meOptions);
    noteArrival();
  },
});
