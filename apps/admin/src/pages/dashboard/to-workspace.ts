import type { Services } from '@postrider/core';
import type { Context } from 'hono';
import type { AdminEnv } from '../../admin-env.ts';
import { sessionOf } from '../../session/session.ts';

/** Paths that name their workspace, or need none. */
const COMPLETE = /^\/(?:w|instance|login)(?:\/|$)/;

/**
 * Redirects a path without a workspace, such as the front page, to the default workspace of the session. Returns null if
 * the dashboard can serve the path as it is.
 */
export async function toWorkspace(services: Services, context: Context<AdminEnv>): Promise<Response | null> {
  const { pathname, search } = new URL(context.req.url);
  if (COMPLETE.test(pathname)) return null;
  // While the database is unreachable, the dashboard still loads and shows that.
  const actor = await sessionOf(services, context).catch(() => null);
  return actor && context.redirect(`/w/${actor.workspace_id}${pathname === '/' ? '' : pathname}${search}`);
}
