import { openWorld } from '@postrider/testing/open-world';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { invoke } from '../../operation/operation.ts';
import { resetPassword } from '../operators/reset-password.ts';
import { createLoginLink } from './create-login-link.ts';
import { findSession } from './find-session.ts';
import { login, loginByLink } from './login.ts';
import { hashPassword } from './password.ts';
import { forgetSessions } from './session-store.ts';

const HOUR_MS = 3_600_000;
const email = 'operator@sandbox.test';
const arrival = { request_id: 'req_test', address: '192.0.2.1', replaces: null, device: null };

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
