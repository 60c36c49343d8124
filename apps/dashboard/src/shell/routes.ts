import { createRootRoute, createRoute } from '@tanstack/react-router';
import { meOptions } from '../api/me.ts';
import { noteArrival } from '../api/session.ts';
import { queries } from '../api/trpc.ts';
import { setWorkspace } from '../api/workspace.ts';
import { ShellFailed } from './page-failed.tsx';
import { Shell } from './shell.tsx';

export const rootRoute = createRootRoute();

/** The layout of everything that requires a session: navigation on the left, the page on the right. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: Shell,
  errorComponent: ShellFailed,
  async loader() {
    const { workspace_id } = await queries.ensureQueryData(meOptions);
    setWorkspace(workspace_id);
    noteArrival();
  },
});
