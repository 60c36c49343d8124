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
  'A viewer reads mail and domains, a member also sends and manages domains and webhooks, an admin does everything.',
);
const EntryWay = enumOf('EntryWay', entryWays, 'What a person who is new here first signs in with.');

const Member = builder.objectRef<MemberEntry>('Member').implement({
  description: 'A person in one workspace. The same person may be in several, so this has no id of its own.',
  fields: (t) => ({
    userId: t.id({ resolve: ({ id }) => id }),
    workspaceId: t.exposeID('workspace_id'),
    email: t.field({ type: 'EmailAddress', resolve: ({ email }) => email }),
    role: t.field({ type: WorkspaceRole, resolve: ({ role }) => role }),
    operator: t.exposeBoolean('operator', {
      description: 'May act in every workspace, whatever the role in this one.',
    }),
    createdAt: t.field({ type: 'DateTime', resolve: ({ created_at }) => created_at }),
  }),
});

const Operator = builder.objectRef<OperatorEntry>('Operator').implement({
  description: 'A person who runs the instance.',
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
    description: "The people of a workspace: the key's own, where none is named. Needs operator.",
    args: { ...pageArgs(t), workspaceId: t.arg.id() },
    resolve: (_, { workspaceId, ...args }, g) => page(g, listMembers, args, { workspaceId }),
  }),
);

builder.queryField('operators', (t) =>
  t.field({
    type: OperatorConnection,
    description: 'Needs operator.',
    args: pageArgs(t),
    resolve: (_, args, g) => page(g, listOperators, args),
  }),
);

const EntryFields = builder.objectRef<Entry>('PersonEntry').implement({
  description: 'The first credentials of a new person: shown once, and empty for a known person.',
  fields: (t) => ({
    password: t.exposeString('password', { nullable: true }),
    loginUrl: t.exposeString('login_url', { nullable: true, description: 'Signs in once.' }),
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
        description: 'Only for an invited member.',
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
    entry: t.field({ type: EntryWay }),
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
    description: "Ends the person's sessions.",
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
    description: "Ends the person's sessions.",
    args: { input: t.arg({ type: MemberRemoveInput, required: true }) },
    resolve: (_, { input }, g) => outcome(async () => ({ deleted_id: (await call(g, removeMember, input)).id })),
  }),
);

const OperatorAddInput = builder.inputType('OperatorAddInput', {
  fields: (t) => ({
    email: t.field({ type: 'EmailAddress', required: true }),
    entry: t.field({ type: EntryWay }),
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
    description: "Ends the person's sessions; what they are in workspaces stays.",
    args: { input: t.arg({ type: OperatorRemoveInput, required: true }) },
    resolve: (_, { input }, g) => outcome(async () => ({ deleted_id: (await call(g, removeOperator, input)).id })),
  }),
);
