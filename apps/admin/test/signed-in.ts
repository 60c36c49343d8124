import { AppError, createContext, httpStatus, invoke, newId, type Operation } from '@postrider/core';
import { beginSession, findSession, insertUser, type WorkspaceRole } from '@postrider/core/people';
import type { World } from '@postrider/testing';
import { createTRPCClient, httpBatchLink, type TRPCClient, TRPCClientError } from '@trpc/client';
import type { z } from 'zod';
import type { AppRouter } from '../src/trpc/router.ts';
import type { AdminServer } from './admin-server.ts';

export type Dashboard = TRPCClient<AppRouter>;

export interface SignedIn {
  readonly user_id: string;
  readonly email: string;
  readonly cookie: string;
  readonly api: Dashboard;
}

/** Creates a user with a session, and the real tRPC client with the session cookie. */
export async function signedIn(
  world: World,
  admin: AdminServer,
  role: WorkspaceRole | 'operator',
  workspace_id = world.workspace_id,
): Promise<SignedIn> {
  const { services, clock } = world;
  const user_id = newId('user', clock.now());
  const email = `${user_id}@people.test`;
  await insertUser(services.sql, {
    id: user_id,
    email,
    password_hash: null,
    operator: role === 'operator',
    vouched: true,
  });
  if (role !== 'operator') {
    await services.sql`
      insert into members (workspace_id, user_id, role, created_at)
      values (${workspace_id}, ${user_id}, ${role}, clock_now())`;
  }
  const { token } = await services.sql.begin((tx) =>
    beginSession(tx, clock.now(), { user_id, workspace_id, by_link: false }),
  );
  const cookie = `sid=${token}`;
  return { user_id, email, cookie, api: dashboard(admin.port, cookie) };
}

/** Runs an operation that the dashboard does not offer, as a signed-in user. */
export async function invokeAs<I extends z.ZodType, O>(
  { services }: World,
  { cookie }: Pick<SignedIn, 'cookie'>,
  operation: Operation<I, O>,
  input: z.input<I>,
): Promise<O> {
  const actor = await findSession(services, cookie.split('=')[1] ?? '', null);
  if (actor === null) throw new AppError('session_ended', 'The session has ended.');
  return invoke(createContext(services, actor), operation, input);
}

/** Creates the real tRPC client with a single-cookie jar, as in a browser tab on a workspace, or on none. */
export function dashboard(port: number, first_cookie: string, workspace_id: string | null = null): Dashboard {
  let cookie = first_cookie;
  return createTRPCClient<AppRouter>({
    links: [
      httpBatchLink({
        url: `http://127.0.0.1:${port}${workspace_id === null ? '' : `/w/${workspace_id}`}/trpc`,
        maxItems: 10,
        headers: () => ({ cookie, 'x-postrider': '1' }),
        async fetch(url, init) {
          // The cast is safe because the client's RequestInit merges those of browsers and Node, and this is Node.
          const response = await fetch(url, init as RequestInit);
          cookie = cookieSetBy(response) ?? cookie;
          return response;
        },
      }),
    ],
  });
}

/** Signs out as the dashboard does. */
export async function signOut({ port }: AdminServer, cookie: string): Promise<void> {
  const origin = `http://127.0.0.1:${port}`;
  await fetch(`${origin}/logout`, { method: 'POST', redirect: 'manual', headers: { cookie, origin } });
}

/** Returns the session cookie that a response sets, in the form a browser sends back, or null if it sets none. */
export function cookieSetBy(response: Response): string | null {
  const [set] = response.headers.getSetCookie();
  return set?.split(';')[0] ?? null;
}

/** Returns the HTTP status, reason, and request ID of a rejected call. */
export async function refusalOf(call: Promise<unknown>): Promise<Record<string, unknown>> {
  const error = await call.then(
    () => new Error('the call was answered'),
    (cause: unknown) => cause,
  );
  if (error instanceof AppError)
    return { reason: error.reason, status: httpStatus[error.code], message: error.message };
  if (!(error instanceof TRPCClientError)) throw error;
  // httpBatchLink stores fetch's response there.
  const response = error.meta?.response as Response | undefined;
  return { ...error.data, message: error.message, status: response?.status };
}
