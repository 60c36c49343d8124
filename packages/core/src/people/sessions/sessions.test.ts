import { openWorld } from '@postrider/testing/open-world';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createContext } from '../../create-context.ts';
import { invoke } from '../../operation/operation.ts';
import { addOperator } from '../operators/add-operator.ts';
import { resetPassword } from '../operators/reset-password.ts';
import { createLoginLink } from './create-login-link.ts';
import { endOtherSessions, endSession } from './end-sessions.ts';
import { findSession } from './find-session.ts';
import { listSessions } from './list-sessions.ts';
import { login, loginByLink } from './login.ts';
import { hashPassword } from './password.ts';
import { forgetSessions } from './session-store.ts';

const MINUTE_MS = 61_000;
const HOUR_MS = 3_600_000;
const email = 'operator@sandbox.test';
const arrival = { request_id: 'req_test', address: '192.0.2.1', user_agent: null, replaces: null, device: null };

const world = await openWorld();
const { sql } = world.services;
let password: string;
beforeEach(async () => {
  ({ password } = await invoke(world.as(world.workspace_id), resetPassword, { email }));
});

const link = async () => {
  const { url } = await invoke(world.as(world.workspace_id), createLoginLink, { email });
  return url.slice(url.lastIndexOf('/') + 1);
};

/** Holds a password change open until another session waits for its lock, then commits. */
async function changeDuring<T>(start: () => Promise<T>): Promise<PromiseSettledResult<T>> {
  const hash = await hashPassword('another password');
  const begin = Promise.withResolvers<Promise<PromiseSettledResult<T>[]>>();
  await sql.begin(async (tx) => {
    await tx`update users set password_hash = ${hash} where email = ${email}`;
    begin.resolve(Promise.allSettled([start()]));
    await vi.waitFor(
      async () => {
        const [row] = await sql<{ waiting: number }[]>`
          select count(*)::int as waiting from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        expect(row?.waiting).toBe(1);
      },
      { timeout: 30_000, interval: 20 },
    );
    await tx`delete from login_links`;
    await tx`delete from sessions`;
  });
  const [outcome] = await await begin.promise;
  if (!outcome) throw new Error('nothing was started');
  return outcome;
}

describe('signing in', () => {
  it('starts no session if the password changes during the sign-in', async () => {
    const outcome = await changeDuring(() => login(world.services, { email, password }, arrival));

    expect(outcome).toMatchObject({ status: 'rejected', reason: { reason: 'invalid_login' } });
    expect(await sql`select from sessions`).toEqual([]);
  });

  it('starts no session by link during a password change, and blocks no other sign-in', async () => {
    const token = await link();

    const outcome = await changeDuring(() => loginByLink(world.services, token, arrival));

    expect(outcome).toMatchObject({ status: 'rejected', reason: { reason: 'invalid_login' } });
    expect(await sql`select from sessions`).toEqual([]);
  });
});

describe('a login link', () => {
  it('is created after a concurrent password reset, not during the reset', async () => {
    const outcome = await changeDuring(link);

    expect(outcome).toMatchObject({ status: 'fulfilled' });
    expect(await sql`select from login_links`).toHaveLength(1);
  });
});

describe('periodic session tasks', () => {
  it('delete only ended sessions and expired links', async () => {
    await loginByLink(world.services, await link(), arrival);
    await link();
    await world.clock.advance(12 * HOUR_MS + 1000);
    const { token } = await loginByLink(world.services, await link(), arrival);
    const unused = await link();

    await forgetSessions(sql);

    expect(await findSession(world.services, token)).toMatchObject({ kind: 'user', email });
    expect(await sql`select from sessions`).toHaveLength(1);
    expect(await sql`select from login_links`).toHaveLength(1);
    expect(await loginByLink(world.services, unused, arrival)).toMatchObject({ token: expect.any(String) });
  });
});

describe('the sessions of a user', () => {
  const ctxOf = async (token: string) => {
    const actor = await findSession(world.services, token);
    if (actor === null) throw new Error('the session has ended');
    return createContext(world.services, actor, { via: 'dashboard' });
  };
  const from = (user_agent: string) => login(world.services, { email, password }, { ...arrival, user_agent });

  it('are listed with device, network and method, and end one by one or all but the current one', async () => {
    const first = await from('Browser A');
    const second = await from('Browser\r\nB');
    const third = await loginByLink(world.services, await link(), arrival);
    const ctx = await ctxOf(first.token);
    await world.clock.advance(MINUTE_MS);
    await findSession(world.services, second.token);

    const sessions = await invoke(ctx, listSessions, {});

    expect(sessions).toMatchObject([
      { current: false, method: 'password', address: '192.0.2.1', user_agent: 'Browser B' },
      { current: false, method: 'login_link', user_agent: null },
      { current: true, method: 'password', user_agent: 'Browser A' },
    ]);
    const second_id = sessions[0]?.id ?? '';
    expect(await invoke(ctx, endSession, { session_id: second_id })).toMatchObject({ ended: true });
    expect(await findSession(world.services, second.token)).toBeNull();
    await expect(invoke(ctx, endSession, { session_id: second_id })).rejects.toMatchObject({
      reason: 'session_not_found',
    });
    expect(await invoke(ctx, endOtherSessions, {})).toMatchObject({ ended_sessions: 1 });
    expect(await findSession(world.services, third.token)).toBeNull();
    expect(await findSession(world.services, first.token)).not.toBeNull();
  });

  it('belong to one user: those of others are neither listed nor ended', async () => {
    const mine = await from('Browser A');
    const other = await invoke(world.as(world.workspace_id), addOperator, { email: 'other@sandbox.test' });
    const { url } = await invoke(world.as(world.workspace_id), createLoginLink, { email: other.email });
    const theirs = await loginByLink(world.services, url.slice(url.lastIndexOf('/') + 1), arrival);
    const [session] = await invoke(await ctxOf(theirs.token), listSessions, {});

    const ctx = await ctxOf(mine.token);
    expect(await invoke(ctx, listSessions, {})).toHaveLength(1);
    await expect(invoke(ctx, endSession, { session_id: session?.id })).rejects.toMatchObject({
      reason: 'session_not_found',
    });
    await invoke(ctx, endOtherSessions, {});

    expect(await findSession(world.services, theirs.token)).not.toBeNull();
  });
});
