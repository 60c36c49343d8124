import { createContext, invoke, newId } from '@postrider/core';
import { beginSession, createSessionToken, findSession, insertUser } from '@postrider/core/people';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { fillWindow } from './rate-windows.ts';
import { errorOf, openRest, rateOf } from './rest-server.ts';

const world = await openWorld();
const rest = await openRest(world);

/** Returns the bearer token of a member's session. */
async function memberToken(): Promise<string> {
  const { services, clock, workspace_id } = world;
  const user_id = newId('user', clock.now());
  const email = `${user_id}@people.test`;
  await insertUser(services.sql, { id: user_id, email, password_hash: null, operator: false, vouched: true });
  await services.sql`
    insert into members (workspace_id, user_id, role, created_at)
    values (${workspace_id}, ${user_id}, 'member', clock_now())`;
  const { token } = await services.sql.begin((tx) =>
    beginSession(tx, clock.now(), { user_id, workspace_id, by_link: false }),
  );
  const actor = await findSession(services, token);
  if (!actor) throw new Error('the session has not begun');
  return (await invoke(createContext(services, actor), createSessionToken, {})).token;
}

describe('a request with a session bearer token', () => {
  const mail = { from: 'shop@sandbox.test', to: 'reader@example.com', subject: 'Try it', text: 'Hi' };

  it("reads and sends with the role's scopes, under the session's rate limit", async () => {
    const key = await memberToken();

    const sent = await rest.call('POST', '/email/send', { key, body: mail });
    const read = await rest.call('GET', `/email/logs/${sent.body.id}`, { key });

    expect([sent.status, read.status]).toEqual([202, 200]);
    expect(read.body).toMatchObject({ subject: 'Try it', api_key_id: null });
    expect(rateOf(read, world.clock.now())).toMatchObject({ limit: 600, remaining: 598 });
    expect(read.headers.get('ratelimit-policy')).toBe('"session";q=600;w=60');
  });

  it("counts toward the workspace's send window", async () => {
    const key = await memberToken();
    const [plan] = await world.services.sql<{ limit: number }[]>`
      select send_per_minute as limit from plans p join workspaces w on w.plan = p.name
      where w.id = ${world.workspace_id}`;
    await fillWindow(world, world.workspace_id, 'send', plan?.limit ?? 0);

    const response = await rest.call('POST', '/email/send', { key, body: mail });

    expect(errorOf(response)).toMatchObject({ code: 'rate_limited', reason: 'send_rate' });
    expect(rateOf(response, world.clock.now())).toMatchObject({ limit: plan?.limit, remaining: 0 });
    await world.clock.advance(60_000);
  });

  it('is denied actions that the role does not allow', async () => {
    const response = await rest.call('GET', '/api-keys', { key: await memberToken() });

    expect(response.status).toBe(403);
    expect(errorOf(response)).toMatchObject({ reason: 'missing_scope', required_scope: 'admin' });
  });

  it('is rejected like an unknown key once the session has ended', async () => {
    const key = await memberToken();
    await world.services.sql`delete from sessions`;

    const responses = [
      await rest.call('GET', '/domains', { key }),
      await rest.call('POST', '/email/send', { key, body: mail }),
    ];

    for (const response of responses) {
      expect(response.status).toBe(401);
      expect(errorOf(response).reason).toBe('session_ended');
      expect(rateOf(response, world.clock.now())).toMatchObject({ limit: 120 });
    }
  });
});
