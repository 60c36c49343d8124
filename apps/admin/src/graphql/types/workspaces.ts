import { invoke } from '@postrider/core';
import {
  type CreatedWorkspace,
  createPlan,
  createWorkspace,
  deletePlan,
  getWorkspace,
  listPlans,
  listWorkspaces,
  type PlanEntry,
  setWorkspacePlan,
  unknownPolicies,
  updatePlan,
  updateWorkspace,
  type WorkspaceEntry,
} from '@postrider/core/workspaces';
import { builder } from '../kit/builder.ts';
import { connectionOf, pageArgs } from '../kit/connections.ts';
import { enumOf } from '../kit/enums.ts';
import { call, page } from '../kit/from-operation.ts';
import { inputArg, outcome, resultOf } from '../kit/mutation-results.ts';
import { snakeCase, snakeFields } from '../kit/names.ts';
import { claimIds } from '../kit/node-ids.ts';
import { DeleteResult } from '../kit/target.ts';
import { UsageType } from '../kit/usage.ts';

const UnknownPolicy = enumOf(
  'UnknownPolicy',
  unknownPolicies,
  'Policy for an email that the server had not confirmed when the connection dropped. RESEND: send it again, so it may arrive twice. STOP: mark it as failed, although it may have arrived.',
);

const NO_LIMIT = 'null: only the product limit applies.';

const Plan = builder.objectRef<PlanEntry>('Plan').implement({
  description: 'The limits of a workspace.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the plan.' }),
    monthlyEmails: t.exposeInt('monthly_emails', { nullable: true, description: 'null: no limit.' }),
    maxRecipientsPerRequest: t.int({
      description: 'Unique addresses in to, cc and bcc per email.',
      resolve: ({ recipients_per_request }) => recipients_per_request,
    }),
    sendPerMinute: t.int({
      description: 'Send requests per minute, per key.',
      resolve: ({ send_per_minute }) => send_per_minute,
    }),
    logsPerMinute: t.int({
      description: 'Log requests per minute, per live key.',
      resolve: ({ logs_per_minute }) => logs_per_minute,
    }),
    otherPerMinute: t.int({
      description: 'Other requests per minute, per live key.',
      resolve: ({ default_per_minute }) => default_per_minute,
    }),
    sandboxLogsPerMinute: t.exposeInt('sandbox_logs_per_minute', { description: 'Per sandbox key.' }),
    sandboxOtherPerMinute: t.int({
      description: 'Per sandbox key.',
      resolve: ({ sandbox_default_per_minute }) => sandbox_default_per_minute,
    }),
    workspaceRate: t.exposeInt('workspace_rate', {
      nullable: true,
      description: 'Requests per minute across all API keys of a workspace; null: only the limit per key applies.',
    }),
    apiKeyLimit: t.exposeInt('api_key_limit', { nullable: true, description: NO_LIMIT }),
    domainLimit: t.exposeInt('domain_limit', { nullable: true, description: NO_LIMIT }),
    webhookLimit: t.exposeInt('webhook_limit', { nullable: true, description: NO_LIMIT }),
    memberLimit: t.exposeInt('member_limit', { nullable: true, description: NO_LIMIT }),
    transportLimit: t.exposeInt('transport_limit', {
      nullable: true,
      description: "Transports of a workspace's own; null: only the product limit applies.",
    }),
    captureBytesLimit: t.exposeInt('capture_bytes_limit', { nullable: true, description: NO_LIMIT }),
  }),
});

export const Workspace = builder.objectRef<WorkspaceEntry>('Workspace');
claimIds('workspace', 'Workspace');
builder.node(Workspace, {
  description: 'A separate set of email, domains, keys, webhooks and members.',
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.workspaces.loadMany(ids),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the workspace.' }),
    plan: t.field({ type: Plan, description: 'The plan that limits the workspace.', resolve: ({ plan }) => plan }),
    unknownPolicy: t.field({
      type: UnknownPolicy,
      description: 'The policy for email without a final reply from the receiving server.',
      resolve: ({ unknown_policy }) => unknown_policy,
    }),
    usage: t.field({
      type: UsageType,
      description: 'Email volume of one month.',
      args: { month: t.arg.string({ description: 'Such as 2025-01. Default: the current month.' }) },
      resolve: async ({ id }, { month }, { load }) => ({
        ...(await load.usageOf(month ?? null).load(id)),
        workspace_id: id,
      }),
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was created.',
      resolve: ({ created_at }) => created_at,
    }),
  }),
});

const WorkspaceConnection = connectionOf(Workspace);

builder.queryFields((t) => ({
  workspace: t.field({
    type: Workspace,
    description: 'The workspace of the key.',
    resolve: (_, __, g) => call(g, getWorkspace, {}),
  }),
  workspaces: t.field({
    type: WorkspaceConnection,
    description: 'All workspaces. Requires operator.',
    args: pageArgs(t),
    resolve: (_, args, g) => page(g, listWorkspaces, args),
  }),
  plans: t.field({
    type: [Plan],
    description: 'All plans. Requires operator.',
    resolve: async (_, __, g) => (await call(g, listPlans, {})).data,
  }),
}));

const WorkspacePayload = builder.objectRef<{ readonly workspace: WorkspaceEntry }>('WorkspacePayload').implement({
  description: 'The changed workspace.',
  fields: (t) => ({
    workspace: t.field({
      type: Workspace,
      description: 'The workspace after the change.',
      resolve: ({ workspace }) => workspace,
    }),
  }),
});
const WorkspaceResult = resultOf('WorkspaceResult', WorkspacePayload);

const WorkspaceCreatePayload = builder.objectRef<CreatedWorkspace>('WorkspaceCreatePayload').implement({
  description: 'A new workspace with its first key.',
  fields: (t) => ({
    workspace: t.field({ type: Workspace, description: 'The new workspace.', resolve: (workspace) => workspace }),
    apiKeyId: t.id({ description: 'Its first key, with the admin scope.', resolve: ({ api_key }) => api_key.id }),
    secret: t.string({
      description: 'The secret of that key. Only returned here.',
      resolve: ({ api_key }) => api_key.secret,
    }),
  }),
});
const WorkspaceCreateResult = resultOf('WorkspaceCreateResult', WorkspaceCreatePayload);

const PlanPayload = builder.objectRef<{ readonly plan: PlanEntry }>('PlanPayload').implement({
  description: 'The new or changed plan.',
  fields: (t) => ({
    plan: t.field({ type: Plan, description: 'The plan after the change.', resolve: ({ plan }) => plan }),
  }),
});
const PlanResult = resultOf('PlanResult', PlanPayload);

const WorkspaceInput = builder.inputType('WorkspaceInput', {
  description: 'The properties of a new workspace.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The name of the workspace, up to 100 characters.' }),
    plan: t.string({ required: true, description: 'The name of its plan.' }),
  }),
});

const WorkspaceUpdateInput = builder.inputType('WorkspaceUpdateInput', {
  description: 'The workspace to change. Omitted fields stay unchanged.',
  fields: (t) => ({
    id: t.id({ description: "Default: the key's workspace." }),
    name: t.string({ description: 'The new name, up to 100 characters.' }),
    unknownPolicy: t.field({
      type: UnknownPolicy,
      description: 'The new policy for email without a final reply from the receiving server.',
    }),
    reason: t.string({ description: 'Reason for the audit log.' }),
  }),
});

const PlanInput = builder.inputType('PlanInput', {
  description: 'The workspace and its new plan.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The workspace ID.' }),
    plan: t.string({ required: true, description: 'The name of the plan.' }),
    reason: t.string({ description: 'Reason for the audit log.' }),
  }),
});

const PlanLimitsInput = builder.inputType('PlanLimitsInput', {
  description: 'The plan and its limits. Omitted limits stay unchanged.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The name of the plan.' }),
    monthlyEmails: t.int({ description: 'null: no limit. Default: unchanged.' }),
    maxRecipientsPerRequest: t.int({ description: 'Required for a new plan.' }),
    sendPerMinute: t.int({ description: 'Send requests per minute, per key. Default for a new plan: 1000.' }),
    logsPerMinute: t.int({ description: 'Log requests per minute, per live key. Default for a new plan: 60.' }),
    otherPerMinute: t.int({ description: 'Other requests per minute, per live key. Default for a new plan: 120.' }),
    sandboxLogsPerMinute: t.int({ description: 'Per sandbox key.' }),
    sandboxOtherPerMinute: t.int({ description: 'Per sandbox key.' }),
    workspaceRate: t.int({ description: 'null: no limit. Default: unchanged.' }),
    apiKeyLimit: t.int({ description: 'null: no limit. Default: unchanged.' }),
    domainLimit: t.int({ description: 'null: no limit. Default: unchanged.' }),
    webhookLimit: t.int({ description: 'null: no limit. Default: unchanged.' }),
    memberLimit: t.int({ description: 'null: no limit. Default: unchanged.' }),
    transportLimit: t.int({
      description: "Transports of a workspace's own. null: only the product limit applies. Default: unchanged.",
    }),
    captureBytesLimit: t.int({ description: 'null: no limit. Default: unchanged.' }),
    reason: t.string({ description: 'Reason for the audit log.' }),
  }),
});

const PlanDeleteInput = builder.inputType('PlanDeleteInput', {
  description: 'The plan to delete.',
  fields: (t) => ({ name: t.string({ required: true, description: 'The name of the plan.' }) }),
});

/** Returns the limits under their core names. Null (no limit) is a value, so it is passed on. */
function limitsOf({
  maxRecipientsPerRequest: recipientsPerRequest,
  otherPerMinute: defaultPerMinute,
  sandboxOtherPerMinute: sandboxDefaultPerMinute,
  ...rest
}: typeof PlanLimitsInput.$inferInput): Record<string, unknown> {
  const unlimited = Object.entries(rest).flatMap(([name, limit]) =>
    limit === null && name !== 'reason' ? [[snakeCase(name), null]] : [],
  );
  return {
    ...snakeFields({ ...rest, recipientsPerRequest, defaultPerMinute, sandboxDefaultPerMinute }),
    ...Object.fromEntries(unlimited),
  };
}

builder.mutationFields((t) => ({
  workspaceCreate: t.field({
    type: WorkspaceCreateResult,
    description: 'Creates a workspace with its sandbox domain and an admin key.',
    args: { input: inputArg(t, WorkspaceInput) },
    resolve: (_, { input }, g) => outcome(() => call(g, createWorkspace, input)),
  }),
  workspaceUpdate: t.field({
    type: WorkspaceResult,
    description: 'Updates the name of a workspace, or its policy for lost SMTP replies.',
    args: { input: inputArg(t, WorkspaceUpdateInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ workspace: await call(g, updateWorkspace, input) })),
  }),
  workspaceSetPlan: t.field({
    type: WorkspaceResult,
    description:
      'Moves a workspace to another plan, from its next request on. Email already sent this month still counts toward the quota. Requires operator.',
    args: { input: inputArg(t, PlanInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ workspace: await call(g, setWorkspacePlan, input) })),
  }),
  planCreate: t.field({
    type: PlanResult,
    description: 'Creates a plan. Requires operator.',
    args: { input: inputArg(t, PlanLimitsInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ plan: await invoke(g.ctx, createPlan, limitsOf(input)) })),
  }),
  planUpdate: t.field({
    type: PlanResult,
    description: 'Changes a plan, from the next request of each workspace on it. Requires operator.',
    args: { input: inputArg(t, PlanLimitsInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ plan: await invoke(g.ctx, updatePlan, limitsOf(input)) })),
  }),
  planDelete: t.field({
    type: DeleteResult,
    description: 'Deletes a plan that no workspace is on. Requires operator.',
    args: { input: inputArg(t, PlanDeleteInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ deleted_id: (await call(g, deletePlan, input)).name })),
  }),
}));
