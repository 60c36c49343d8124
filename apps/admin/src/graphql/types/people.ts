import {
  addOperator,
  type Entry,
  entryWays,
  inviteMember,
  listMembers,
  listOperators,
  type MemberEntry,
  type OperatorEntry,
  removeMember,
  removeOperator,
  setMemberRole,
  workspaceRoles,
} from '@postrider/core/people';
import { builder } from '../kit/builder.ts';
import { connectionOf, pageArgs } from '../kit/connections.ts';
import { enumOf } from '../kit/enums.ts';
import { call, page } from '../kit/from-operation.ts';
import { inputArg, outcome, resultOf } from '../kit/mutation-results.ts';
import { DeleteResult } from '../kit/target.ts';

const WorkspaceRole = enumOf(
  'WorkspaceRole',
  workspaceRoles,
  'VIEWER: reads email and domains. MEMBER: also sends and manages domains and webhooks. ADMIN: full access.',
);
const EntryMethod = enumOf('EntryWay', entryWays, 'The first sign-in method of a new user.');

const Member = builder.objectRef<MemberEntry>('Member').implement({
  description: 'A user in one workspace. A user can belong to several, so a member has no ID.',
  fields: (t) => ({
    userId: t.id({ description: 'The ID of the user.', resolve: ({ id }) => id }),
    workspaceId: t.exposeID('workspace_id', { description: 'The ID of the workspace.' }),
    email: t.field({
      type: 'EmailAddress',
      description: 'The address that the user signs in with.',
      resolve: ({ email }) => email,
    }),
    name: t.exposeString('name', { nullable: true, description: 'The name that the user has chosen.' }),
    secondFactor: t.exposeBoolean('second_factor', { description: 'Whether signing in takes a code as well.' }),
    role: t.field({ type: WorkspaceRole, description: 'The role in this workspace.', resolve: ({ role }) => role }),
    operator: t.exposeBoolean('operator', {
      description: 'Has access to every workspace, regardless of role.',
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When the user joined the workspace.',
      resolve: ({ created_at }) => created_at,
    }),
  }),
});

const Operator = builder.objectRef<OperatorEntry>('Operator').implement({
  description: 'A user with access to the whole instance.',
  fields: (t) => ({
    userId: t.id({ description: 'The ID of the user.', resolve: ({ id }) => id }),
    email: t.field({
      type: 'EmailAddress',
      description: 'The address that the user signs in with.',
      resolve: ({ email }) => email,
    }),
    name: t.exposeString('name', { nullable: true, description: 'The name that the user has chosen.' }),
    secondFactor: t.exposeBoolean('second_factor', { description: 'Whether signing in takes a code as well.' }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When the user account was created.',
      resolve: ({ created_at }) => created_at,
    }),
  }),
});

const MemberConnection = connectionOf(Member);
const OperatorConnection = connectionOf(Operator);

builder.queryField('members', (t) =>
  t.field({
    type: MemberConnection,
    description: "The members of a workspace. Default: the key's own. Requires operator.",
    args: { ...pageArgs(t), workspaceId: t.arg.id({ description: "Default: the key's own workspace." }) },
    resolve: (_, { workspaceId, ...args }, g) => page(g, listMembers, args, { workspaceId }),
  }),
);

builder.queryField('operators', (t) =>
  t.field({
    type: OperatorConnection,
    description: 'The operators of the instance. Requires operator.',
    args: pageArgs(t),
    resolve: (_, args, g) => page(g, listOperators, args),
  }),
);

const EntryFields = builder.objectRef<Entry>('PersonEntry').implement({
  description: 'The first credentials of a new user. Returned once, and empty for existing users.',
  fields: (t) => ({
    password: t.exposeString('password', {
      nullable: true,
      description: 'Only returned here; null unless entry is PASSWORD.',
    }),
    loginUrl: t.exposeString('login_url', { nullable: true, description: 'Works once.' }),
    loginUrlExpiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When loginUrl expires, 15 minutes after its creation; null without one.',
      resolve: ({ login_url_expires_at }) => login_url_expires_at,
    }),
  }),
});

const MemberPayload = builder
  .objectRef<{ readonly member: MemberEntry; readonly entry: Entry | null }>('MemberPayload')
  .implement({
    description: 'The new or changed member.',
    fields: (t) => ({
      member: t.field({ type: Member, description: 'The member after the change.', resolve: ({ member }) => member }),
      entry: t.field({
        type: EntryFields,
        nullable: true,
        description: 'Only after an invitation.',
        resolve: ({ entry }) => entry,
      }),
    }),
  });
const MemberResult = resultOf('MemberResult', MemberPayload);

const OperatorPayload = builder
  .objectRef<{ readonly operator: OperatorEntry; readonly entry: Entry }>('OperatorPayload')
  .implement({
    description: 'The new operator.',
    fields: (t) => ({
      operator: t.field({
        type: Operator,
        description: 'The operator after the change.',
        resolve: ({ operator }) => operator,
      }),
      entry: t.field({
        type: EntryFields,
        description: 'The credentials for the first sign-in.',
        resolve: ({ entry }) => entry,
      }),
    }),
  });
const OperatorResult = resultOf('OperatorResult', OperatorPayload);

const MemberInviteInput = builder.inputType('MemberInviteInput', {
  description: 'The user to add to a workspace.',
  fields: (t) => ({
    email: t.field({ type: 'EmailAddress', required: true, description: 'The address that the user signs in with.' }),
    role: t.field({ type: WorkspaceRole, required: true, description: 'The role in the workspace.' }),
    entry: t.field({
      type: EntryMethod,
      description: 'The first sign-in method of a new user. Default: LOGIN_LINK, which expires in 15 minutes.',
    }),
    workspaceId: t.id({ description: 'Another workspace (operators only). Default: your own.' }),
    reason: t.string({ description: 'Reason for the audit log.' }),
  }),
});

builder.mutationField('memberInvite', (t) =>
  t.field({
    type: MemberResult,
    description: 'Adds a member to a workspace. New or reset users get a login link or password, returned once.',
    args: { input: inputArg(t, MemberInviteInput) },
    resolve: (_, { input }, g) =>
      outcome(async () => {
        const invited = await call(g, inviteMember, input);
        return { member: invited, entry: invited };
      }),
  }),
);

const MemberSetRoleInput = builder.inputType('MemberSetRoleInput', {
  description: 'The member whose role changes.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'The ID of the user.' }),
    role: t.field({ type: WorkspaceRole, required: true, description: 'The new role in the workspace.' }),
    workspaceId: t.id({ description: 'Another workspace (operators only). Default: your own.' }),
    reason: t.string({ description: 'Reason for the audit log.' }),
  }),
});

builder.mutationField('memberSetRole', (t) =>
  t.field({
    type: MemberResult,
    description: "Changes a member's role and ends their sessions.",
    args: { input: inputArg(t, MemberSetRoleInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ member: await call(g, setMemberRole, input), entry: null })),
  }),
);

const MemberRemoveInput = builder.inputType('MemberRemoveInput', {
  description: 'The member to remove.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'The ID of the user.' }),
    workspaceId: t.id({ description: 'Another workspace (operators only). Default: your own.' }),
    reason: t.string({ description: 'Reason for the audit log.' }),
  }),
});

builder.mutationField('memberRemove', (t) =>
  t.field({
    type: DeleteResult,
    description: 'Removes a member from the workspace and ends their sessions.',
    args: { input: inputArg(t, MemberRemoveInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ deleted_id: (await call(g, removeMember, input)).id })),
  }),
);

const OperatorAddInput = builder.inputType('OperatorAddInput', {
  description: 'The user to make an operator.',
  fields: (t) => ({
    email: t.field({ type: 'EmailAddress', required: true, description: 'The address that the user signs in with.' }),
    entry: t.field({
      type: EntryMethod,
      description: 'The first sign-in method. Default: LOGIN_LINK, which expires in 15 minutes.',
    }),
    reason: t.string({ description: 'Reason for the audit log.' }),
  }),
});

builder.mutationField('operatorAdd', (t) =>
  t.field({
    type: OperatorResult,
    description: 'Adds an operator. They get a login link or password, returned once.',
    args: { input: inputArg(t, OperatorAddInput) },
    resolve: (_, { input }, g) =>
      outcome(async () => {
        const added = await call(g, addOperator, input);
        return { operator: added, entry: added };
      }),
  }),
);

const OperatorRemoveInput = builder.inputType('OperatorRemoveInput', {
  description: 'The operator to remove.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'The ID of the user.' }),
    reason: t.string({ description: 'Reason for the audit log.' }),
  }),
});

builder.mutationField('operatorRemove', (t) =>
  t.field({
    type: DeleteResult,
    description: "Removes an operator and ends the user's sessions. Workspace roles do not change. Requires operator.",
    args: { input: inputArg(t, OperatorRemoveInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ deleted_id: (await call(g, removeOperator, input)).id })),
  }),
);
