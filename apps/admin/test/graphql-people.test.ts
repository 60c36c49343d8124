import { type Context, invoke } from '@postrider/core';
import { createLoginLink, resetPassword } from '@postrider/core/people';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { openGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);
let other: { workspace_id: string; secret: string };
beforeAll(async () => {
  other = await world.workspace('free');
});

const INVITE = `mutation ($input: MemberInviteInput!) {
  memberInvite(input: $input) {
    ... on MemberPayload { member { userId workspaceId email role operator } entry { password loginUrl } }
    ... on ApiError { code reason }
  }
}`;
const MEMBERS = 'query ($workspace: ID) { members(workspaceId: $workspace) { nodes { userId email role } } }';

type Invitation = { memberInvite: { member: { userId: string }; entry: { loginUrl: string } } };

describe('members', () => {
  it('can be invited, listed, assigned a role and removed in any workspace by an operator key', async () => {
    const workspaceId = other.workspace_id;
    const invite = (email: string, role: string) => graphql.ask(INVITE, { input: { email, role, workspaceId } });

    const owner = await invite('boss@people.test', 'ADMIN');
    const invited = await invite('Ada@people.test', 'VIEWER');
    const { userId } = (invited.data as Invitation).memberInvite.member;
    const changed = await graphql.ask(
      `mutation ($input: MemberSetRoleInput!) {
        memberSetRole(input: $input) { ... on MemberPayload { member { role } entry { loginUrl } } }
      }`,
      { input: { userId, role: 'MEMBER', workspaceId } },
    );
    const listed = await graphql.ask(MEMBERS, { workspace: workspaceId });
    const remove = (id: string) =>
      graphql.ask(
        `mutation ($input: MemberRemoveInput!) {
          memberRemove(input: $input) { ... on DeletePayload { deletedId } ... on ApiError { code reason } }
        }`,
        { input: { userId: id, workspaceId } },
      );

    expect(invited.data).toMatchObject({
      memberInvite: {
        member: { workspaceId, email: 'ada@people.test', role: 'VIEWER', operator: false },
        entry: { password: null, loginUrl: expect.stringContaining('/login/link/') },
      },
    });
    expect(changed.data).toEqual({ memberSetRole: { member: { role: 'MEMBER' }, entry: null } });
    expect(listed.data).toMatchObject({
      members: {
        nodes: [
          { email: 'ada@people.test', role: 'MEMBER' },
          { email: 'boss@people.test', role: 'ADMIN' },
        ],
      },
    });
    expect((await remove(userId)).data).toEqual({ memberRemove: { deletedId: userId } });
    expect((await remove((owner.data as Invitation).memberInvite.member.userId)).data).toEqual({
      memberRemove: { code: 'UNPROCESSABLE', reason: 'last_admin' },
    });
  });

  it('cannot be managed with a workspace key, since people it created would outlive it', async () => {
    const key = { key: other.secret };

    const invited = await graphql.ask(INVITE, { input: { email: 'eve@people.test', role: 'ADMIN' } }, key);
    const listed = await graphql.ask(MEMBERS, {}, key);

    expect(invited.data).toEqual({ memberInvite: { code: 'FORBIDDEN', reason: 'missing_scope' } });
    expect(listed.errors).toMatchObject([{ extensions: { code: 'forbidden', reason: 'missing_scope' } }]);
  });
});

describe('operators', () => {
  it('can be added, listed and removed, except for the last one', async () => {
    const added = await graphql.ask(
      `mutation { operatorAdd(input: { email: "second@people.test", entry: PASSWORD }) {
        ... on OperatorPayload { operator { userId email } entry { password loginUrl } } } }`,
    );
    const listed = await graphql.ask('{ operators { nodes { userId email } } }');
    const nodes = (listed.data as { operators: { nodes: { userId: string; email: string }[] } }).operators.nodes;
    const remove = (userId: string | undefined) =>
      graphql.ask(
        `mutation ($input: OperatorRemoveInput!) {
          operatorRemove(input: $input) { ... on DeletePayload { deletedId } ... on ApiError { reason } }
        }`,
        { input: { userId } },
      );

    expect(added.data).toMatchObject({
      operatorAdd: {
        operator: { email: 'second@people.test' },
        entry: { password: expect.any(String), loginUrl: null },
      },
    });
    expect(nodes.map(({ email }) => email)).toEqual(['second@people.test', 'operator@sandbox.test']);
    expect((await remove(nodes[0]?.userId)).data).toEqual({ operatorRemove: { deletedId: nodes[0]?.userId } });
    expect((await remove(nodes[1]?.userId)).data).toEqual({ operatorRemove: { reason: 'last_admin' } });
  });
});

describe('a restricted key with the operator scope', () => {
  const limits: [string, Record<string, unknown>][] = [
    ['addresses', { allowed_ips: ['127.0.0.1'] }],
    ['an end', { expires_at: '2099-01-01T00:00:00Z' }],
    ['domains', { domains: ['sandbox.test'] }],
    ['the sandbox mode', { mode: 'sandbox' }],
  ];

  it.each(limits)('creates neither people nor objects without its own restriction: %s', async (_, limit) => {
    const { secret: key } = await world.key({ scopes: ['operator', 'admin'], ...limit });
    const refusal = '{ ... on ApiError { reason } ... on ForbiddenError { requiredScope } }';
    const workspaces = async () => (await world.services.sql`select from workspaces`).length;
    const before = await workspaces();

    const { data } = await graphql.ask(
      `mutation {
        workspaceCreate(input: { name: "Mine", plan: "free" }) ${refusal}
        operatorAdd(input: { email: "mine@people.test", entry: PASSWORD }) ${refusal}
        memberInvite(input: { email: "mine@people.test", role: ADMIN, entry: PASSWORD }) ${refusal}
        memberSetRole(input: { userId: "usr_none", role: ADMIN }) ${refusal}
      }`,
      {},
      { key },
    );

    const error = { reason: 'missing_scope', requiredScope: expect.stringMatching(/^(operator|admin)$/) };
    expect(data).toEqual({
      workspaceCreate: error,
      operatorAdd: error,
      memberInvite: error,
      memberSetRole: error,
    });
    expect(await workspaces()).toBe(before);
    expect(await world.services.sql`select from users where email = 'mine@people.test'`).toHaveLength(0);
  });

  it('cannot create login credentials for existing people', async () => {
    const { id: key_id } = await world.key({ scopes: ['operator'], allowed_ips: ['127.0.0.1'] });
    const { workspace_id } = world;
    const ctx: Context = {
      ...world.as(workspace_id),
      actor: { kind: 'key', workspace_id, key_id, scopes: ['operator'], mode: 'live', domains: null },
    };
    const email = 'operator@sandbox.test';

    const refusals = await Promise.allSettled([
      invoke(ctx, createLoginLink, { email }),
      invoke(ctx, resetPassword, { email }),
    ]);

    expect(refusals).toMatchObject([{ reason: { reason: 'missing_scope' } }, { reason: { reason: 'missing_scope' } }]);
  });
});
