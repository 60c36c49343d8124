import { newId } from '@postrider/core';
import { hashPassword } from '@postrider/core/people';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { cookieSetBy, type Dashboard, dashboard, refusalOf, signedIn } from './signed-in.ts';

const HOUR_MS = 3_600_000;
const PASSWORD = 'correct horse battery';
const JSON_ONLY = { accept: 'application/json' };
const world = await openWorld();
const admin = await openAdmin(world);

interface Standing {
  readonly user_id: string;
  readonly webhook_id: string;
  readonly key_id: string;
}

const guarded: Record<string, (api: Dashboard, standing: Standing) => Promise<unknown>> = {
  'apiKeys.create': (api) => api.apiKeys.create.mutate({ name: 'Shop', scopes: ['email:send'] }),
  'apiKeys.rotate': (api, { key_id }) => api.apiKeys.rotate.mutate({ key_id }),
  async 'bulk.run'(api) {
    const { token } = await api.ops.bulkPreview.mutate({ action: 'cancel', filter: {} });
    return api.ops.bulkRun.mutate({ token, reason: 'a mistake' });
  },
  'domains.delete': (api) => api.domains.delete.mutate({ domain: 'good.test' }),
  'erasures.start': (api) => api.erasures.start.mutate({ email: 'ada@example.com' }),
  'invitations.create': (api) => api.invitations.create.mutate({ email: 'eve@people.test', role: 'admin' }),
  'invitations.resend': (api) => api.invitations.resend.mutate({ id: newId('invitation', 0) }),
  'members.setRole': (api, { user_id }) => api.members.setRole.mutate({ user_id, role: 'admin' }),
  'members.remove': (api, { user_id }) => api.members.remove.mutate({ user_id }),
  'operators.remove': (api, { user_id }) => api.operators.remove.mutate({ user_id }),
  'people.beginTotp': (api) => api.people.beginTotp.mutate({}),
  'people.activateTotp': (api) => api.people.activateTotp.mutate({ code: '000000' }),
  'people.removeTotp': (api) => api.people.removeTotp.mutate({}),
  'people.renewRecoveryCodes': (api) => api.people.renewRecoveryCodes.mutate({}),
  'people.setSignInPolicy': (api) => api.people.setSignInPolicy.mutate({ second_factor: 'required' }),
  'webhooks.create': (api) => api.webhooks.create.mutate({ url: 'https://hooks.test/other' }),
  'webhooks.update': (api, { webhook_id }) =>
    api.webhooks.update.mutate({ id: webhook_id, url: 'https://hooks.test/other' }),
  'webhooks.rotateSecret': (api, { webhook_id }) => api.webhooks.rotateSecret.mutate({ id: webhook_id }),
  'workspaces.create': (api) => api.workspaces.create.mutate({ name: 'Mine', plan: 'free' }),
};

/** Creates an operator with a password and a session, and a viewer. */
async function people() {
  const operator = await signedIn(world, admin, 'operator');
  const member = await signedIn(world, admin, 'viewer');
  await world.services.sql`
    update users set password_hash = ${await hashPassword(PASSWORD)} where id = ${operator.user_id}`;
  return { ...operator, member_id: member.user_id };
}

const origin = () => `http://127.0.0.1:${admin.port}`;

function confirm(
  cookie: string,
  form: Readonly<Record<string, string>> = { password: PASSWORD },
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${origin()}/login/confirm`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: origin(), cookie, ...headers },
    body: new URLSearchParams(form),
  });
}

describe('a session older than an hour', () => {
  it('must confirm the password before an irreversible or lasting action takes effect', async () => {
    await world.domain('good.test');
    const { sql } = world.services;
    const state = () => sql`
      select (select count(*) from api_keys) as keys, (select count(*) from domains) as domains,
        (select count(*) from users) as users, (select array_agg(role order by user_id) from members) as roles,
        (select count(*) from workspaces) as workspaces, (select count(*) from bulk_operations) as bulks,
        (select count(*) from erasures) as erasures,
        (select array_agg(url || secret_last4) from webhooks) as webhooks, (select count(*) from audit_log) as entries`;
    const { api, member_id } = await people();
    const { id: key_id } = await api.apiKeys.create.mutate({ name: 'Old', scopes: ['email:send'] });
    const { id: webhook_id } = await api.webhooks.create.mutate({ url: 'https://hooks.test/hook' });
    await world.clock.advance(HOUR_MS);
    const before = await state();

    for (const [name, call] of Object.entries(guarded)) {
      expect(await refusalOf(call(api, { user_id: member_id, webhook_id, key_id })), name).toMatchObject({
        status: 403,
        code: 'forbidden',
        reason: 'reauthentication_required',
        message: expect.stringContaining('password'),
      });
    }

    expect(await state()).toEqual(before);
    // Leaving the address unchanged does not require a fresh sign-in.
    expect(await api.webhooks.update.mutate({ id: webhook_id, description: 'Orders' })).toMatchObject({
      id: webhook_id,
    });
    expect((await api.members.list.query()).data.length).toBeGreaterThan(0);
  });

  it('counts as fresh for an hour after the right password, but not after a wrong one', async () => {
    const { api, cookie, user_id } = await people();
    const make = (session: Dashboard) => session.apiKeys.create.mutate({ name: 'Shop', scopes: ['email:send'] });
    await world.clock.advance(HOUR_MS);

    const wrong = await confirm(cookie, { password: 'wrong' }, JSON_ONLY);
    const unchanged = await refusalOf(make(api));
    const confirmed = await confirm(cookie);
    const fresh = dashboard(admin.port, cookieSetBy(confirmed) ?? '');
    const key = await make(fresh);
    await world.clock.advance(HOUR_MS);
    const after_confirm = await refusalOf(make(fresh));

    expect(wrong.status).toBe(401);
    expect(await wrong.json()).toMatchObject({ error: { reason: 'invalid_login' } });
    expect(unchanged).toMatchObject({ reason: 'reauthentication_required' });
    expect(confirmed.status).toBe(200);
    expect(after_confirm).toMatchObject({ reason: 'reauthentication_required' });
    const actions = await world.services.sql`
      select count(*)::int as count from audit_log where action = 'user.confirmed' and actor_id = ${user_id}`;
    expect(actions).toEqual([{ count: 1 }]);
    // Revoking a leaked key does not require a fresh sign-in.
    expect(await fresh.apiKeys.revoke.mutate({ key_id: key.id })).toMatchObject({ status: 'revoked' });
  });

  it('continues with a new token once the password is confirmed, and its old cookie becomes invalid', async () => {
    const { cookie, user_id } = await people();
    const copy = dashboard(admin.port, cookie);
    await world.clock.advance(HOUR_MS);
    await confirm(cookie, { password: 'wrong' });
    const user = await copy.people.me.query();

    const confirmed = await confirm(cookie);
    const fresh = dashboard(admin.port, cookieSetBy(confirmed) ?? '');

    const copied = await refusalOf(copy.apiKeys.create.mutate({ name: 'Shop', scopes: ['email:send'] }));
    expect(user).toMatchObject({ id: user_id });
    expect(copied).toMatchObject({ status: 401, reason: 'session_ended' });
    expect(await fresh.apiKeys.create.mutate({ name: 'Shop', scopes: ['email:send'] })).toMatchObject({
      object: 'api_key',
    });
    expect(
      await world.services.sql`select diff from audit_log where action = 'user.confirmed' and actor_id = ${user_id}`,
    ).toEqual([{ diff: '{"by":"password"}' }]);
  });

  it('gets a cookie with the same attributes as at sign-in', async () => {
    const { cookie } = await people();

    const response = await confirm(cookie);

    const [set, ...rest] = response.headers.getSetCookie();
    expect(rest).toEqual([]);
    expect(set).toMatch(/^sid=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(set).not.toContain(cookie);
    expect(await response.text()).not.toContain(set?.slice(4, 47));
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('needs a password confirmation only for people, never for keys', async () => {
    const { secret } = await world.key({ scopes: ['admin'] });
    await world.clock.advance(HOUR_MS);

    const response = await fetch(`http://127.0.0.1:${admin.port}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        query: 'mutation { apiKeyCreate(input: { name: "Shop", scopes: ["email:send"] }) { __typename } }',
      }),
    });

    expect(await response.json()).toMatchObject({
      data: { apiKeyCreate: { __typename: expect.stringContaining('Payload') } },
    });
  });
});

const askGraphql = (token: string) =>
  fetch(`http://127.0.0.1:${admin.port}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ viewer { scopes } }' }),
  });

describe('the password confirmation page', () => {
  it('is linked from the rejection, and renews the session once the password is right', async () => {
    const { api, cookie, email } = await people();
    const make = (session = api) => session.apiKeys.create.mutate({ name: 'Shop', scopes: ['email:send'] });
    await world.clock.advance(HOUR_MS);
    const { token } = await api.session.token.mutate();
    expect((await askGraphql(token)).status).toBe(200);
    const refusal = await refusalOf(make());

    const page = await admin.get('/login/confirm?next=/inbox', { cookie });
    const wrong = await confirm(cookie, { password: 'wrong', next: '/inbox' });
    const unchanged = await refusalOf(make());
    const right = await confirm(cookie, { password: PASSWORD, next: '/inbox?x=1' });

    expect(refusal.message).toContain('/login/confirm');
    expect(page.status).toBe(200);
    expect(page.text).toContain(`value="${email}"`);
    expect(page.text).toContain('name="next" value="/inbox"');
    expect(wrong.status).toBe(401);
    expect(await wrong.text()).toMatch(/role="alert"><strong>Wrong password\..*name="next" value="\/inbox"/s);
    expect(unchanged).toMatchObject({ reason: 'reauthentication_required' });
    expect([right.status, right.headers.get('location')]).toEqual([303, '/inbox?x=1']);
    const renewed = cookieSetBy(right);
    expect(cookieSetBy(wrong)).toBeNull();
    expect(renewed).not.toBe(cookie);
    expect(await make(dashboard(admin.port, renewed ?? ''))).toMatchObject({ object: 'api_key' });
    // Confirming the password invalidates previously copied cookies and the tokens issued with them.
    expect((await askGraphql(token)).status).toBe(401);
    expect(await refusalOf(make())).toMatchObject({ status: 401, reason: 'session_ended' });
  });

  it('redirects only within this site, and reports a missing return page', async () => {
    const { cookie } = await people();

    const external = await confirm(cookie, { password: PASSWORD, next: '//evil.test' });
    const missing = await confirm(cookieSetBy(external) ?? '', { password: PASSWORD });

    expect(external.headers.get('location')).toBe('/');
    expect(missing.status).toBe(200);
    expect(await missing.text()).toContain('Password confirmed');
  });

  it('redirects to sign-in without a session, and then to the requested page', async () => {
    const page = await admin.get('/login/confirm?next=/inbox');
    const posted = await confirm('', { password: PASSWORD, next: '/inbox' });

    expect([page.status, page.headers.location]).toEqual([302, '/login?next=%2Finbox']);
    expect([posted.status, posted.headers.get('location')]).toEqual([303, '/login?next=%2Finbox']);
  });

  it('rejects forms from other sites, and allows twenty attempts per session', async () => {
    const { cookie } = await people();

    const foreign = await confirm(cookie, { password: PASSWORD }, { origin: 'https://evil.test' });
    const wrong = await confirm(cookie, { password: 'wrong' });
    await world.services.sql`update login_failures set failed = 20 where subject like 'session %'`;
    const expired = await confirm(cookie, { password: PASSWORD });

    expect(foreign.status).toBe(403);
    expect([wrong.status, expired.status]).toEqual([401, 429]);
  });
});
