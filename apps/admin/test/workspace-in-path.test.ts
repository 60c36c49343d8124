import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { dashboard, refusalOf, signedIn } from './signed-in.ts';

const world = await openWorld();
const admin = await openAdmin(world);
const second = await world.workspace('business');
const third = await world.workspace('business');
await world.domain('second.test', second.workspace_id);

/** Creates a user of both workspaces, signed in with the first as the default. */
async function memberOfBoth() {
  const person = await signedIn(world, admin, 'admin');
  await world.services.sql`
    insert into members (workspace_id, user_id, role, created_at)
    values (${second.workspace_id}, ${person.user_id}, 'admin', clock_now())`;
  const tab = (workspace_id: string) => dashboard(admin.port, person.cookie, workspace_id);
  return { ...person, tab, first: tab(world.workspace_id), other: tab(second.workspace_id) };
}

async function send(workspace_id: string, from: string, subject: string): Promise<string> {
  const mail = { from, to: 'ada@example.com', subject, text: 'Hello.' };
  return (await invoke(world.as(workspace_id), sendMessage, mail)).id;
}

describe('a workspace in the path', () => {
  it('is the workspace of each request of one session', async () => {
    const { first, other } = await memberOfBoth();
    const ids = [
      await send(world.workspace_id, 'a@sandbox.test', 'First'),
      await send(second.workspace_id, 'a@second.test', 'Second'),
    ];

    const [me, other_me] = await Promise.all([first.people.me.query(), other.people.me.query()]);
    const [listed, other_listed] = await Promise.all([first.emails.list.query(), other.emails.list.query()]);

    expect([me.workspace_id, other_me.workspace_id]).toEqual([world.workspace_id, second.workspace_id]);
    expect([listed.data[0]?.id, other_listed.data[0]?.id]).toEqual(ids);
    expect(await refusalOf(other.emails.get.query({ id: ids[0] ?? '' }))).toMatchObject({
      reason: 'message_not_found',
    });
  });

  it('receives the audit entries and rejected requests of its own requests only', async () => {
    const { user_id, first, other } = await memberOfBoth();
    await other.suppressions.add.mutate({ email: 'there@example.com' });
    await refusalOf(other.domains.get.query({ domain: 'missing.test' }));
    await world.services.request_log.flush();

    const entries = async (tab: typeof first) =>
      (await tab.audit.list.query({ limit: 100 })).data.filter(({ actor }) => actor.id === user_id);
    const requests = async (tab: typeof first) =>
      (await tab.requests.list.query({ limit: 100 })).data.filter(({ path }) => path === 'domains.get');

    expect([(await entries(first)).length, (await entries(other)).length]).toEqual([0, 1]);
    expect([(await requests(first)).length, (await requests(other)).length]).toEqual([0, 1]);
  });

  it('looks the same if it is unknown, malformed or forbidden', async () => {
    const { tab, cookie } = await memberOfBoth();
    const unknown_id = `wsp_${'0'.repeat(26)}`;

    const ids = [third.workspace_id, unknown_id, 'nonsense', `wsp_${'z'.repeat(200)}`, '%00'];
    const refusals = await Promise.all(ids.map((id) => refusalOf(tab(id).people.me.query())));
    const pages = await Promise.all(ids.map((id) => admin.get(`/w/${id}/graphiql`, { cookie })));

    for (const refusal of refusals) expect(refusal).toMatchObject({ status: 404, reason: 'workspace_not_found' });
    for (const page of pages) expect(page.status).toBe(404);
    const words = refusals.map(({ message }, index) => String(message).replace(String(ids[index]).slice(0, 64), 'ID'));
    expect(new Set(words.slice(0, 4)).size).toBe(1);
  });

  it('is open to an operator, and closed to a visitor without a session', async () => {
    const operator = await signedIn(world, admin, 'operator');

    const me = await dashboard(admin.port, operator.cookie, third.workspace_id).people.me.query();

    expect([me.workspace_id, me.scopes]).toEqual([third.workspace_id, ['operator', 'admin']]);
    expect(await refusalOf(dashboard(admin.port, '', third.workspace_id).people.me.query())).toMatchObject({
      status: 401,
      reason: 'session_ended',
    });
  });

  it('closes for a removed member, whose session and other workspaces stay open', async () => {
    const { user_id, first, other } = await memberOfBoth();
    const foreign_admin = await signedIn(world, admin, 'admin', second.workspace_id);
    await other.people.switchWorkspace.mutate({ workspace_id: second.workspace_id });
    const { token } = await other.session.token.mutate();
    const { token: first_token } = await first.session.token.mutate();

    await foreign_admin.api.members.remove.mutate({ user_id });

    expect(await refusalOf(other.people.me.query())).toMatchObject({ status: 404, reason: 'workspace_not_found' });
    expect(await first.people.me.query()).toMatchObject({ workspace_id: world.workspace_id });
    expect(await statusOf(token)).toBe(401);
    expect(await statusOf(first_token)).toBe(200);
  });

  it('is the only workspace of a session token, whatever the default becomes', async () => {
    const { first, other } = await memberOfBoth();
    const { token } = await first.session.token.mutate();

    await other.people.switchWorkspace.mutate({ workspace_id: second.workspace_id });

    expect(await viewedWorkspace(token)).toBe(world.workspace_id);
  });
});

describe('a path without a workspace', () => {
  it.each(['/?range=week', '/emails?q=to%3Aada', '/preview/msg_1?images=1', '/graphiql?query=1'])(
    'redirects %s to the default workspace, with its query',
    async (path) => {
      const { cookie } = await signedIn(world, admin, 'member', second.workspace_id);

      const page = await admin.get(path, { cookie, accept: 'text/html' });

      const target = `/w/${second.workspace_id}${path.replace(/^\/(?=\?)/, '')}`;
      expect([page.status, page.headers.location]).toEqual([302, target]);
    },
  );

  it('acts in the default workspace, which a switch changes', async () => {
    const { api } = await memberOfBoth();

    const before = await api.people.me.query();
    await api.people.switchWorkspace.mutate({ workspace_id: second.workspace_id });

    expect([before.workspace_id, (await api.people.me.query()).workspace_id]).toEqual([
      world.workspace_id,
      second.workspace_id,
    ]);
  });
});

async function viewedWorkspace(token: string): Promise<string> {
  const response = await ask(token);
  const { data } = (await response.json()) as { data: { viewer: { workspace: { id: string } } } };
  return data.viewer.workspace.id;
}

async function statusOf(token: string): Promise<number> {
  return (await ask(token)).status;
}

function ask(token: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${admin.port}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ viewer { workspace { id } } }' }),
  });
}
