import { invoke } from '@postrider/core';
import {
  addOperator,
  inviteMember,
  listMembers,
  listOperators,
  removeMember,
  removeOperator,
  setMemberRole,
} from '@postrider/core/people';
import * as shapes from '../shapes.ts';
import { camelFields, connection, mutation, type Setup, type UseCase, useCase } from '../use-case.ts';
import { NO_PAGE, NO_REST, several } from './setup.ts';

const MEMBERS_SCOPE = { graphql: 'operator', trpc: 'admin' } as const;

function memberInput({ input: { role, entry, ...input } }: Setup) {
  return {
    ...camelFields(input),
    ...(role !== undefined && { role: String(role).toUpperCase() }),
    ...(entry !== undefined && { entry: String(entry).toUpperCase() }),
  };
}

const aMember: UseCase['given'] = async (world, workspace_id, number) => {
  const email = `nr${number}@people.test`;
  const { id } = await invoke(world.as(workspace_id), inviteMember, { email, role: 'viewer' });
  return { input: { user_id: id } };
};

export const people = [
  useCase(listMembers, {
    rest: NO_REST,
    trpc: 'GET members.list',
    graphql: connection('members', shapes.member),
    given: async (world, workspace_id, number) => {
      let count = 0;
      return several(() => {
        count += 1;
        const email = `list${count}-nr${number}@people.test`;
        return invoke(world.as(workspace_id), inviteMember, { email, role: 'viewer' });
      });
    },
    scope_on: MEMBERS_SCOPE,
    paged: true,
    bad: { limit: 0 },
  }),
  useCase(inviteMember, {
    rest: NO_REST,
    trpc: NO_PAGE,
    graphql: mutation(
      'memberInvite',
      'MemberInviteInput',
      'MemberPayload',
      `of: member { ${shapes.member} }`,
      memberInput,
    ),
    given: async (_, __, number) => ({ input: { email: `nr${number}@people.test`, role: 'member' } }),
    scope_on: MEMBERS_SCOPE,
    writes: true,
    // GraphQL returns the sign-in credentials beside the member.
    varying: ['password', 'login_url', 'login_url_expires_at'],
    bad: { email: 'nobody' },
  }),
  useCase(setMemberRole, {
    rest: NO_REST,
    trpc: 'POST members.setRole',
    graphql: mutation(
      'memberSetRole',
      'MemberSetRoleInput',
      'MemberPayload',
      `of: member { ${shapes.member} }`,
      memberInput,
    ),
    async given(world, workspace_id, number) {
      const { input } = await aMember(world, workspace_id, number);
      return { input: { ...input, role: 'member' } };
    },
    target: 'user_id',
    // Only an operator's key may call this operation at all.
    foreign: false,
    scope_on: MEMBERS_SCOPE,
    writes: true,
  }),
  useCase(removeMember, {
    rest: NO_REST,
    trpc: 'POST members.remove',
    graphql: mutation('memberRemove', 'MemberRemoveInput', 'DeletePayload', 'id: deletedId', memberInput),
    given: aMember,
    target: 'user_id',
    foreign: false,
    scope_on: MEMBERS_SCOPE,
    writes: true,
  }),
  useCase(listOperators, {
    rest: NO_REST,
    trpc: 'GET operators.list',
    graphql: connection('operators', shapes.operator),
    given: async (world, workspace_id, number) => {
      let count = 0;
      return several(() => {
        count += 1;
        return invoke(world.as(workspace_id), addOperator, { email: `operator${count}-nr${number}@people.test` });
      });
    },
    paged: true,
    bad: { limit: 0 },
  }),
  useCase(addOperator, {
    rest: NO_REST,
    trpc: NO_PAGE,
    graphql: mutation(
      'operatorAdd',
      'OperatorAddInput',
      'OperatorPayload',
      `of: operator { ${shapes.operator} }`,
      memberInput,
    ),
    given: async (_, __, number) => ({ input: { email: `nr${number}@people.test` } }),
    writes: true,
    varying: ['password', 'login_url', 'login_url_expires_at'],
    bad: { email: 'nobody' },
  }),
  useCase(removeOperator, {
    rest: NO_REST,
    trpc: 'POST operators.remove',
    graphql: mutation('operatorRemove', 'OperatorRemoveInput', 'DeletePayload', 'id: deletedId'),
    async given(world, workspace_id, number) {
      const { id } = await invoke(world.as(workspace_id), addOperator, { email: `nr${number}@people.test` });
      return { input: { user_id: id } };
    },
    target: 'user_id',
    foreign: false,
    writes: true,
  }),
];
