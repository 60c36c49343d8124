import { invoke } from '@postrider/core';
import { addOperator, beginSession, createLoginLink, inviteMember, resetPassword } from '@postrider/core/people';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { openAdmin, startAdmin } from './admin-server.ts';
import { type Dashboard, dashboard, invokeAs, refusalOf, type SignedIn, signedIn } from './signed-in.ts';

const world = await openWorld();
const { sql } = world.services;
const admin = await openAdmin(world);
let operator: SignedIn;
beforeAll(async () => {
  operator = await signedIn(world, admin, 'operator');
});

const invite = (person: SignedIn, input: Parameters<typeof invokeAs<typeof inviteMember.input, unknown>>[3]) =>
  invokeAs(world, person, inviteMember, input);
const makeOperator = (person: SignedIn, input: { readonly email: string }) =>
  invokeAs(world, person, addOperator, input);
const expired_session = { status: 401, reason: 'session_ended' };

/** Signs in with a link, as its button does. */
async function follow(url: string): Promise<{ readonly status: number; readonly api: Dashboard }> {
  const origin = `http://127.0.0.1:${admin.port}`;
  const response = await fetch(`${origin}${new URL(url).pathname}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin },
  });
  const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return { status: response.status, api: dashboard(admin.port, cookie) };
}

async function sessionOf(email: string): Promise<Dashboard> {
  const [user] = await sql<{ id: string }[]>`select id from users where email = ${email}`;
  const session = { user_id: user?.id ?? '', workspace_id: world.workspace_id, by_link: false };
  const { token } = await sql.begin((tx) => beginSession(tx, world.clock.now(), session));
  return dashboard(admin.port, `sid=${token}`);
}

async function signInWith(email: string, password: string): Promise<number> {
  const origin = `http://127.0.0.1:${admin.port}`;
  const body = new URLSearchParams({ email, password });
  return (await fetch(`${origin}/login`, { method: 'POST', redirect: 'manual', headers: { origin }, body })).status;
}

const audited = async (workspace_id: string) => {
  const rows = await sql<{ action: string; actor_name: string; diff: string | null }[]>`
    select action, actor_name, diff from audit_log where workspace_id = ${workspace_id} order by sequence`;
  return rows.map(({ action, actor_name, diff }) => ({ action, actor_name, diff: JSON.parse(diff ?? 'null') }));
};

describe('roles', () => {
  const calls: Record<string, (api: Dashboard) => Promise<unknown>> = {
    'emails.list': (api) => api.emails.list.query(),
    'emails.content': (api) => api.emails.content.query({ id: 'msg_none' }),
    'emails.cancel': (api) => api.emails.cancel.mutate({ id: 'msg_none' }),
    'domains.list': (api) => api.domains.list.query(),
    'domains.verify': (api) => api.domains.verify.mutate({ domain: 'none.test' }),
    'webhooks.list': (api) => api.webhooks.list.query(),
    'suppressions.list': (api) => api.suppressions.list.query(),
    'suppressions.remove': (api) => api.suppressions.remove.mutate({ email: 'none@example.com' }),
    'apiKeys.list': (api) => api.apiKeys.list.query(),
    'apiKeys.revoke': (api) => api.apiKeys.revoke.mutate({ key_id: 'key_none' }),
    'members.list': (api) => api.members.list.query(),
    'members.setRole': (api) => api.members.setRole.mutate({ user_id: 'usr_none', role: 'viewer' }),
    'members.remove': (api) => api.members.remove.mutate({ user_id: 'usr_none' }),
    'destinations.list': (api) => api.destinations.list.query(),
    'operators.list': (api) => api.operators.list.query(),
    'operators.remove': (api) => api.operators.remove.mutate({ user_id: 'usr_none' }),
  };
  const viewer = ['emails.list', 'domains.list', 'suppressions.list'];
  const member = [...viewer, 'emails.cancel', 'domains.verify', 'webhooks.list'];
  const all = Object.keys(calls);

  it.each([
    ['viewer', viewer],
    ['member', member],
    ['admin', all.filter((name) => !/^(operators|destinations)/.test(name))],
    ['operator', all],
  ] as const)('let a %s call exactly the procedures allowed for that role', async (role, allowed) => {
    const { api } = await signedIn(world, admin, role);

    const open: string[] = [];
    for (const [name, call] of Object.entries(calls)) {
      const is_denied = await call(api).then(
        () => false,
        async (error: unknown) => (await refusalOf(Promise.reject(error))).status === 403,
      );
      if (!is_denied) open.push(name);
    }

    expect(open.sort()).toEqual([...allowed].sort());
  });

  it('cannot grant a scope beyond their own', async () => {
    const { api } = await signedIn(world, admin, 'admin');

    const refusal = await refusalOf(api.apiKeys.create.mutate({ name: 'Up', scopes: ['operator'] }));

    expect(refusal).toMatchObject({ status: 403, reason: 'missing_scope', required_scope: 'operator' });
  });
});

describe('a pending invitation', () => {
  it('is listed for admins, without its link, until it is revoked', async () => {
    const inviter = await signedIn(world, admin, 'admin');
    const { invitation, delivery } = await inviter.api.invitations.create.mutate({
      email: 'pending@people.test',
      role: 'viewer',
    });
    const before = await inviter.api.invitations.list.query({});

    await inviter.api.invitations.revoke.mutate({ id: invitation?.id ?? '' });

    const token = delivery?.url?.split('/').at(-1) ?? '';
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(before.data).toMatchObject([{ email: 'pending@people.test', role: 'viewer', invited_by: inviter.email }]);
    expect(JSON.stringify(before)).not.toContain(token);
    expect(await inviter.api.invitations.list.query({})).toMatchObject({ data: [] });
    expect(await audited(world.workspace_id)).toContainEqual({
      action: 'invitation.revoked',
      actor_name: inviter.email,
      diff: { email: '…@people.test', role: 'viewer' },
    });
  });
});

describe('a member', () => {
  it("signs in with the link in an admin's invitation, and then chooses a password", async () => {
    const inviter = await signedIn(world, admin, 'admin');

    const invited = await invite(inviter, { email: 'Grace@People.test', role: 'member' });
    const { status, api } = await follow(invited.login_url ?? '');
    const me = await api.people.me.query();
    await api.people.changePassword.mutate({ new_password: 'a long enough one' });

    expect(invited).toMatchObject({ object: 'member', email: 'grace@people.test', role: 'member', password: null });
    expect(status).toBe(303);
    expect(me).toMatchObject({
      id: invited.id,
      operator: false,
      workspace_id: world.workspace_id,
      workspaces: [{ id: world.workspace_id, role: 'member' }],
    });
    expect(await refusalOf(api.people.me.query())).toMatchObject(expired_session);
    expect(await signInWith('grace@people.test', 'a long enough one')).toBe(303);
    expect(JSON.stringify(await inviter.api.members.list.query())).not.toContain('link');
    expect(await audited(world.workspace_id)).toEqual(
      expect.arrayContaining([
        { action: 'member.added', actor_name: inviter.email, diff: { email: '…@people.test', role: 'member' } },
        { action: 'user.password_changed', actor_name: 'grace@people.test', diff: null },
      ]),
    );
  });

  it('can be invited with a password instead, but only once', async () => {
    const invited = await invite(operator, {
      email: 'alan@people.test',
      role: 'viewer',
      entry: 'password',
    });
    const repeat = await refusalOf(invite(operator, { email: 'ALAN@people.test', role: 'admin' }));

    expect(await signInWith('alan@people.test', invited.password ?? '')).toBe(303);
    expect(repeat).toMatchObject({ status: 422, reason: 'member_exists' });
  });

  it('can be added only by operators if they exist elsewhere, without revealing account credentials', async () => {
    const other = await world.workspace('free');
    const theirs = await signedIn(world, admin, 'admin', other.workspace_id);
    const inviter = await signedIn(world, admin, 'admin');

    const refusal = await refusalOf(invite(inviter, { email: theirs.email, role: 'viewer' }));
    const invited = await invite(operator, { email: theirs.email, role: 'viewer' });

    expect(refusal).toMatchObject({ status: 422, reason: 'user_exists' });
    expect(invited).toMatchObject({ id: theirs.user_id, password: null, login_url: null });
    expect(await theirs.api.people.me.query()).toMatchObject({
      workspaces: [{ id: world.workspace_id }, { id: other.workspace_id }],
    });
  });

  it.each(['password', 'login_link'] as const)(
    'gets new credentials once from an operator if an admin elsewhere saw their %s',
    async (entry) => {
      const [theirs, third] = [await world.workspace('free'), await world.workspace('free')];
      const foreign_admin = await signedIn(world, admin, 'admin', theirs.workspace_id);
      const email = `ceo-${entry}@people.test`.replace('_', '-');
      const invitation = await invite(foreign_admin, { email, role: 'viewer', entry });
      // The admin signs in first so that the new user appears to have set up their account.
      const posing = entry === 'login_link' ? (await follow(invitation.login_url ?? '')).api : null;
      await posing?.people.changePassword.mutate({ new_password: 'chosen by the admin' });
      const password = invitation.password ?? 'chosen by the admin';
      expect(await signInWith(email, password)).toBe(303);

      const invited = await invite(operator, { email, role: 'admin' });
      const entered = await signInWith(email, password);
      const { status, api } = await follow(invited.login_url ?? '');
      const repeat = await invite(operator, {
        email,
        role: 'viewer',
        workspace_id: third.workspace_id,
      });

      expect(invited).toMatchObject({ id: invitation.id, login_url: expect.any(String) });
      expect(entered).toBe(401);
      expect(status).toBe(303);
      expect(repeat).toMatchObject({ id: invitation.id, password: null, login_url: null });
      expect(await api.people.me.query()).toMatchObject({ id: invitation.id });
    },
  );

  it('cannot be impersonated in a new workspace with credentials an earlier admin saw', async () => {
    const { workspace_id } = await world.workspace('free');
    const first = await signedIn(world, admin, 'admin', workspace_id);
    const inviter = await signedIn(world, admin, 'admin');
    const email = 'victim@people.test';
    const invitation = await invite(first, { email, role: 'viewer', entry: 'password' });
    await first.api.members.remove.mutate({ user_id: invitation.id });
    expect(await signInWith(email, invitation.password ?? '')).toBe(403);

    const invited = await invite(inviter, { email, role: 'admin' });

    expect(invited).toMatchObject({ id: invitation.id, login_url: expect.any(String) });
    expect(await signInWith(email, invitation.password ?? '')).toBe(401);
  });

  it('is added only once if two admins invite a new address simultaneously', async () => {
    const { workspace_id } = await world.workspace('free');
    const theirs = await signedIn(world, admin, 'admin', workspace_id);
    const inviter = await signedIn(world, admin, 'admin');

    for (let round = 0; round < 5; round++) {
      const email = `contested-${round}@people.test`;
      const invitations = await Promise.allSettled(
        [theirs, inviter].map((person) => invite(person, { email, role: 'admin' })),
      );
      expect(invitations.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    }
  });

  it('cannot be impersonated by an admin who invites them while they become an operator', async () => {
    const inviter = await signedIn(world, admin, 'admin');

    for (let round = 0; round < 5; round++) {
      const email = `promoted-${round}@people.test`;
      const [added, invited] = await Promise.allSettled([
        makeOperator(operator, { email }),
        invite(inviter, { email, role: 'viewer' }),
      ]);
      const { id } = added.status === 'fulfilled' ? added.value : { id: '' };
      if (invited.status === 'fulfilled') expect((await follow(invited.value.login_url ?? '')).status).toBe(401);
      await operator.api.operators.remove.mutate({ user_id: id, reason: 'a mistake' });
    }
  });

  it('cannot change a password while it is being reset', async () => {
    const inviter = await signedIn(world, admin, 'admin');
    const email = 'raced@people.test';
    const { password } = await invite(inviter, { email, role: 'viewer', entry: 'password' });
    const attacker = await sessionOf(email);

    const [reset, change] = await Promise.allSettled([
      invoke(world.as(world.workspace_id), resetPassword, { email }),
      attacker.people.changePassword.mutate({
        current_password: password ?? '',
        new_password: 'chosen by the thief',
      }),
    ]);

    expect([reset.status, change.status]).toEqual(['fulfilled', 'rejected']);
    expect(await signInWith(email, 'chosen by the thief')).toBe(401);
  });

  it('cannot block sign-ins elsewhere by inviting many people with passwords', async () => {
    const inviter = await signedIn(world, admin, 'admin');

    const invitations = await Promise.allSettled(
      Array.from({ length: 20 }, (_, number) =>
        refusalOf(
          invite(inviter, {
            email: `crowd-${number}@people.test`,
            role: 'viewer',
            entry: 'password',
          }),
        ),
      ),
    );
    const rejected = invitations.filter(({ status }) => status === 'fulfilled').length;

    // Five invitations can wait for a password hash, and each one that finishes frees a slot.
    expect(rejected).toBeGreaterThanOrEqual(10);
  });

  it('cannot be impersonated with credentials an admin saw, after becoming an operator', async () => {
    const inviter = await signedIn(world, admin, 'admin');
    const email = 'rising@people.test';
    const invitation = await invite(inviter, { email, role: 'viewer' });

    const added = await makeOperator(operator, { email });

    expect((await follow(invitation.login_url ?? '')).status).toBe(401);
    expect((await follow(added.login_url ?? '')).status).toBe(303);
    await operator.api.operators.remove.mutate({ user_id: added.id, reason: 'a mistake' });
  });

  it('is rejected immediately after removal, on every process and in every browser', async () => {
    const inviter = await signedIn(world, admin, 'admin');
    const removed_member = await signedIn(world, admin, 'member');
    const second = await startAdmin(await world.peer());
    const remote = dashboard(second.port, removed_member.cookie);
    await remote.emails.list.query();

    await inviter.api.members.remove.mutate({ user_id: removed_member.user_id });

    expect(await refusalOf(removed_member.api.emails.list.query())).toMatchObject(expired_session);
    expect(await refusalOf(remote.emails.list.query())).toMatchObject(expired_session);
    await second.stop();
    const { data } = await inviter.api.members.list.query({ limit: 100 });
    expect(data.map(({ id }) => id)).not.toContain(removed_member.user_id);
  });

  it('has the permissions of the new role on the next request after a role change', async () => {
    const inviter = await signedIn(world, admin, 'admin');
    const other = await signedIn(world, admin, 'admin');

    const changed = await inviter.api.members.setRole.mutate({ user_id: other.user_id, role: 'viewer' });

    expect(changed).toMatchObject({ id: other.user_id, role: 'viewer' });
    expect((await other.api.people.me.query()).scopes).toEqual(['email:logs:read', 'domains:read']);
    expect(await refusalOf(other.api.apiKeys.list.query())).toMatchObject({ reason: 'missing_scope' });
    expect(await audited(world.workspace_id)).toContainEqual({
      action: 'member.role_changed',
      actor_name: inviter.email,
      diff: { role: { from: 'admin', to: 'viewer' } },
    });
  });

  it('retains sessions and links in other workspaces after a role change or removal', async () => {
    const other = await world.workspace('free');
    const foreign_admin = await signedIn(world, admin, 'admin', other.workspace_id);
    const person = await signedIn(world, admin, 'member');
    const { email, user_id } = person;
    await invite(operator, { email, role: 'viewer', workspace_id: other.workspace_id });
    const { url } = await invoke(world.as(world.workspace_id), createLoginLink, { email });
    const remote = await follow((await invoke(world.as(world.workspace_id), createLoginLink, { email })).url);
    await remote.api.people.switchWorkspace.mutate({ workspace_id: other.workspace_id });

    await foreign_admin.api.members.setRole.mutate({ user_id, role: 'member' });
    const moved = await remote.api.people.me.query();
    await foreign_admin.api.members.remove.mutate({ user_id });

    expect(moved).toMatchObject({ workspace_id: other.workspace_id });
    expect(await remote.api.people.me.query()).toMatchObject({ workspace_id: world.workspace_id });
    expect(await person.api.people.me.query()).toMatchObject({ workspace_id: world.workspace_id });
    expect((await follow(url)).status).toBe(303);
  });

  it('looks nonexistent in another workspace', async () => {
    const other = await world.workspace('free');
    const theirs = await signedIn(world, admin, 'member', other.workspace_id);
    const inviter = await signedIn(world, admin, 'admin');

    const existing = await refusalOf(inviter.api.members.remove.mutate({ user_id: theirs.user_id }));
    const missing = await refusalOf(inviter.api.members.remove.mutate({ user_id: 'usr_none' }));
    const refusal = await refusalOf(inviter.api.members.list.query({ workspace_id: other.workspace_id }));
    const invented = await refusalOf(inviter.api.members.list.query({ workspace_id: 'wsp_none' }));

    expect(existing.message).toBe(String(missing.message).replace('usr_none', theirs.user_id));
    expect(refusal.message).toBe(String(invented.message).replace('wsp_none', other.workspace_id));
    expect([existing.reason, refusal.reason]).toEqual(['member_not_found', 'workspace_not_found']);
    const members = await operator.api.members.list.query({ workspace_id: other.workspace_id });
    expect(members.data).toMatchObject([{ id: theirs.user_id }]);
  });
});

describe('the last admin', () => {
  it('cannot be removed through any API', async () => {
    const { workspace_id } = await world.workspace('free');
    const sole_admin = await signedIn(world, admin, 'admin', workspace_id);

    const demoted = await refusalOf(
      sole_admin.api.members.setRole.mutate({ user_id: sole_admin.user_id, role: 'viewer' }),
    );
    const removed = await refusalOf(operator.api.members.remove.mutate({ user_id: sole_admin.user_id, workspace_id }));

    expect([demoted, removed]).toMatchObject([
      { status: 422, reason: 'last_admin' },
      { status: 422, reason: 'last_admin' },
    ]);
  });

  it('remains even if two admins remove each other concurrently', async () => {
    const { workspace_id } = await world.workspace('free');
    const [a, b] = await Promise.all([
      signedIn(world, admin, 'admin', workspace_id),
      signedIn(world, admin, 'admin', workspace_id),
    ]);

    const outcomes = await Promise.allSettled([
      operator.api.members.remove.mutate({ user_id: a.user_id, workspace_id }),
      operator.api.members.setRole.mutate({ user_id: b.user_id, role: 'member', workspace_id }),
    ]);

    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const admins = await sql`select from members where workspace_id = ${workspace_id} and role = 'admin'`;
    expect(admins).toHaveLength(1);
  });
});

describe('an operator', () => {
  it('can be added, removed and signed out by another operator', async () => {
    const added = await makeOperator(operator, { email: 'second@people.test' });
    const { api } = await follow(added.login_url ?? '');
    expect(await api.people.me.query()).toMatchObject({ operator: true, scopes: ['operator', 'admin'] });
    expect(await refusalOf(makeOperator(operator, { email: 'second@people.test' }))).toMatchObject({
      status: 422,
      reason: 'operator_exists',
    });

    await operator.api.operators.remove.mutate({ user_id: added.id });

    expect(await refusalOf(api.people.me.query())).toMatchObject(expired_session);
    const { data } = await operator.api.operators.list.query();
    expect(data.map(({ email }) => email)).not.toContain('second@people.test');
    const [addition, unmade] = (await audited('')).filter(({ action }) => action.startsWith('operator.'));
    expect([addition, unmade]).toMatchObject([
      { action: 'operator.added', actor_name: operator.email },
      { action: 'operator.removed', actor_name: operator.email },
    ]);
  });

  it('cannot be removed if it is the last one', async () => {
    const { data } = await operator.api.operators.list.query();
    const other_operators = data.filter(({ id }) => id !== operator.user_id);
    for (const { id } of other_operators) await operator.api.operators.remove.mutate({ user_id: id });

    const refusal = await refusalOf(operator.api.operators.remove.mutate({ user_id: operator.user_id }));

    expect(refusal).toMatchObject({ status: 422, reason: 'last_admin' });
  });

  it('can act in any workspace, one at a time', async () => {
    const other = await world.workspace('free');
    const { api } = await signedIn(world, admin, 'operator');

    await api.people.switchWorkspace.mutate({ workspace_id: other.workspace_id });

    expect(await api.people.me.query()).toMatchObject({ workspace_id: other.workspace_id });
    expect((await api.apiKeys.list.query()).data).toMatchObject([{ id: other.key_id }]);
    expect(await refusalOf(api.people.switchWorkspace.mutate({ workspace_id: 'wsp_none' }))).toMatchObject({
      status: 404,
      reason: 'workspace_not_found',
    });
  });
});

describe('switching workspaces', () => {
  it('applies the role in the new workspace, and redirects nowhere else', async () => {
    const other = await world.workspace('free');
    const third = await world.workspace('free');
    const person = await signedIn(world, admin, 'admin');
    await invite(operator, {
      email: person.email,
      role: 'viewer',
      workspace_id: other.workspace_id,
    });

    await person.api.people.switchWorkspace.mutate({ workspace_id: other.workspace_id });

    expect(await person.api.people.me.query()).toMatchObject({ scopes: ['email:logs:read', 'domains:read'] });
    expect(await refusalOf(person.api.apiKeys.list.query())).toMatchObject({ status: 403 });
    expect(
      await refusalOf(person.api.people.switchWorkspace.mutate({ workspace_id: third.workspace_id })),
    ).toMatchObject({ status: 404 });
  });
});

describe('the sessions of a person', () => {
  it('are listed and ended over the dashboard, also by a viewer', async () => {
    const invited = await invite(operator, { email: 'lin@people.test', role: 'viewer' });
    const { api } = await follow(invited.login_url ?? '');
    const { url } = await invoke(world.as(world.workspace_id), createLoginLink, { email: 'lin@people.test' });
    const other = await follow(url);

    const sessions = await api.people.sessions.query({});

    expect(sessions).toMatchObject([
      { current: expect.any(Boolean), method: 'login_link', address: expect.any(String) },
      { current: expect.any(Boolean), method: 'login_link', address: expect.any(String) },
    ]);
    const other_id = sessions.find(({ current }) => !current)?.id ?? '';
    await api.people.endSession.mutate({ session_id: other_id });
    expect(await refusalOf(other.api.people.me.query())).toMatchObject(expired_session);
    expect(await api.people.endOtherSessions.mutate({})).toMatchObject({ ended_sessions: 0 });
    expect((await audited(world.workspace_id)).map(({ action }) => action)).toEqual(
      expect.arrayContaining(['user.session_ended', 'user.other_sessions_ended']),
    );
  });
});

describe('a name', () => {
  it('is shown to the members of a workspace, without spaces around it, and is not in the audit log', async () => {
    const invitation = await invite(operator, { email: 'mary@people.test', role: 'admin' });
    const { api } = await follow(invitation.login_url ?? '');

    expect(await api.people.setName.mutate({ name: '  Mary Somerville ' })).toMatchObject({ name: 'Mary Somerville' });
    const member = (await api.members.list.query({ limit: 100 })).data.find(
      ({ email }) => email === 'mary@people.test',
    );
    expect(member).toMatchObject({ name: 'Mary Somerville', second_factor: false });
    expect(await api.people.me.query()).toMatchObject({ name: 'Mary Somerville' });
    expect(await refusalOf(api.people.setName.mutate({ name: 'Mary\u202e' }))).toMatchObject({ status: 400 });
    const entries = await audited(world.workspace_id);
    expect(entries.map(({ action }) => action)).toContain('user.renamed');
    expect(JSON.stringify(entries)).not.toContain('Somerville');
    expect(await api.people.setName.mutate({ name: ' ' })).toMatchObject({ name: null });
  });
});

describe('changing a password', () => {
  it('requires a fresh sign-in from someone without one', async () => {
    const invitation = await invite(operator, { email: 'ida@people.test', role: 'viewer' });
    const { api } = await follow(invitation.login_url ?? '');
    await sql`
      update sessions set authenticated_at = clock_now() - interval '61 minutes'
      where user_id = (select id from users where email = 'ida@people.test')`;

    const refusal = await refusalOf(api.people.changePassword.mutate({ new_password: 'the first password' }));
    expect(refusal).toMatchObject({ status: 403, reason: 'reauthentication_required' });
  });

  it('requires the current password, except right after using a login link', async () => {
    const invited = await invite(operator, { email: 'kay@people.test', role: 'viewer' });
    const first = await follow(invited.login_url ?? '');
    await first.api.people.changePassword.mutate({ new_password: 'the first password' });
    const link = async () =>
      (await invoke(world.as(world.workspace_id), createLoginLink, { email: 'kay@people.test' })).url;
    const fresh = await follow(await link());
    const old = await follow(await link());
    await fresh.api.people.changePassword.mutate({ new_password: 'the second password' });
    expect(await refusalOf(old.api.people.me.query())).toMatchObject(expired_session);

    const second_visitor = await follow(await link());
    await world.clock.advance(16 * 60_000);
    const blind = await refusalOf(
      second_visitor.api.people.changePassword.mutate({ new_password: 'the third password' }),
    );
    const done = await second_visitor.api.people.changePassword.mutate({
      current_password: 'the second password',
      new_password: 'the third password',
    });

    expect(blind).toMatchObject({ status: 401, reason: 'invalid_login' });
    expect(done).toMatchObject({ object: 'user', ended_sessions: 1 });
    expect(await signInWith('kay@people.test', 'the second password')).toBe(401);
    expect(await signInWith('kay@people.test', 'the third password')).toBe(303);
  });

  it('rejects a password that is too short', async () => {
    const { api } = await signedIn(world, admin, 'viewer');

    expect(await refusalOf(api.people.changePassword.mutate({ new_password: 'short' }))).toMatchObject({
      status: 400,
      details: [{ param: 'new_password' }],
    });
  });
});
