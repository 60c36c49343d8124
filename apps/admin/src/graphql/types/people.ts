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
import { outcome, resultOf } from '../kit/mutation-results.ts';
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
    userId: t.id({ resolve: ({ id }) => id }),
    workspaceId: t.exposeID('workspace_id'),
    email: t.field({ type: 'EmailAddress', resolve: ({ email }) => email }),
    role: t.field({ type: WorkspaceRole, resolve: ({ role }) => role }),
    operator: t.exposeBoolean('operator', {
      description: 'Has access to every workspace, regardless of role.',
    }),
    createdAt: t.field({ type: 'DateTime', resolve: ({ created_at }) => created_at }),
  }),
});

const Operator = builder.objectRef<OperatorEntry>('Operator').implement({
  description: 'A user with access to the whole instance.',
  fields: (t) => ({
    userId: t.id({ resolve: ({ id }) => id }),
    email: t.field({ type: 'EmailAddress', resolve: ({ email }) => email }),
    createdAt: t.field({ type: 'DateTime', resolve: ({ created_at }) => created_at }),
  }),
});

const MemberConnection = connectionOf(Member);
const OperatorConnection = connectionOf(Operator);

builder.queryField('members', (t) =>
  t.field({
    type: MemberConnection,
    description: "The members of a workspace. Default: the key's own. Requires operator.",
    args: { ...pageArgs(t), workspaceId: t.arg.id() },
    resolve: (_, { workspaceId, ...args }, g) => page(g, listMembers, args, { workspaceId }),
  }),
);

builder.queryField('operators', (t) =>
  t.field({
    type: OperatorConnection,
    description: 'Requires operator.',
    args: pageArgs(t),
    resolve: (_, args, g) => page(g, listOperators, args),
  }),
);

const EntryFields = builder.objectRef<Entry>('PersonEntry').implement({
  description: 'The first credentials of a new user. Returned once, and empty for existing users.',
  fields: (t) => ({
    password: t.exposeString('password', { nullable: true }),
    loginUrl: t.exposeString('login_url', { nullable: true, description: 'Works once.' }),
    loginUrlExpiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      resolve: ({ login_url_expires_at }) => login_url_expires_at,
    }),
  }),
});

const MemberPayload = builder
  .objectRef<{ readonly member: MemberEntry; readonly entry: Entry | null }>('MemberPayload')
  .implement({
    fields: (t) => ({
      member: t.field({ type: Member, resolve: ({ member }) => member }),
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
    fields: (t) => ({
      operator: t.field({ type: Operator, resolve: ({ operator }) => operator }),
      entry: t.field({ type: EntryFields, resolve: ({ entry }) => entry }),
    }),
  });
const OperatorResult = resultOf('OperatorResult', OperatorPayload);

const MemberInviteInput = builder.inputType('MemberInviteInput', {
  fields: (t) => ({
    email: t.field({ type: 'EmailAddress', required: true }),
    role: t.field({ type: WorkspaceRole, required: true }),
    entry: t.field({ type: EntryMethod }),
    workspaceId: t.id(),
    reason: t.string(),
  }),
});

builder.mutationField('memberInvite', (t) =>
  t.field({
    type: MemberResult,
    args: { input: t.arg({ type: MemberInviteInput, required: true }) },
    resolve: (_, { input }, g) =>
      outcome(async () => {
        const invited = await call(g, inviteMember, input);
        return { member: invited, entry: invited };
      }),
  }),
);

const MemberSetRoleInput = builder.inputType('MemberSetRoleInput', {
  fields: (t) => ({
    userId: t.id({ required: true }),
    role: t.field({ type: WorkspaceRole, required: true }),
    workspaceId: t.id(),
    reason: t.string(),
  }),
});

builder.mutationField('memberSetRole', (t) =>
  t.field({
    type: MemberResult,
    description: "Ends the user's sessions.",
    args: { input: t.arg({ type: MemberSetRoleInput, required: true }) },
    resolve: (_, { input }, g) => outcome(async () => ({ member: await call(g, setMemberRole, input), entry: null })),
  }),
);

const MemberRemoveInput = builder.inputType('MemberRemoveInput', {
  fields: (t) => ({ userId: t.id({ required: true }), workspaceId: t.id(), reason: t.string() }),
});

builder.mutationField('memberRemove', (t) =>
  t.field({
    type: DeleteResult,
    description: "Ends the user's sessions.",
    args: { input: t.arg({ type: MemberRemoveInput, required: true }) },
    resolve: (_, { input }, g) => outcome(async () => ({ deleted_id: (await call(g, removeMember, input)).id })),
  }),
);

const OperatorAddInput = builder.inputType('OperatorAddInput', {
  fields: (t) => ({
    email: t.field({ type: 'EmailAddress', required: true }),
    entry: t.field({ type: EntryMethod }),
    reason: t.string(),
  }),
});

builder.mutationField('operatorAdd', (t) =>
  t.field({
    type: OperatorResult,
    args: { input: t.arg({ type: OperatorAddInput, required: true }) },
    resolve: (_, { input }, g) =>
      outcome(async () => {
        const added = await call(g, addOperator, input);
        return { operator: added, entry: added };
      }),
  }),
);

const OperatorRemoveInput = builder.inputType('OperatorRemoveInput', {
  fields: (t) => ({ userId: t.id({ required: true }), reason: t.string() }),
});

builder.mutationField('operatorRemove', (t) =>
  t.field({
    type: DeleteResult,
    description: "Ends the user's sessions. Workspace roles do not change.",
    args: { input: t.arg({ type: OperatorRemoveInput, required: true }) },
    resolve: (_, { input }, g) => outcome(async () => ({ deleted_id: (await call(g, removeOperator, input)).id })),
  }),
);
