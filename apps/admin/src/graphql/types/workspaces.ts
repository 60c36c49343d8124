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
import { outcome, resultOf } from '../kit/mutation-results.ts';
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
  fields: (t) => ({
    name: t.exposeString('name'),
    monthlyEmails: t.exposeInt('monthly_emails', { nullable: true, description: 'null: no limit.' }),
    maxRecipientsPerRequest: t.int({ resolve: ({ recipients_per_request }) => recipients_per_request }),
    sendPerMinute: t.int({ resolve: ({ send_per_minute }) => send_per_minute }),
    logsPerMinute: t.int({ resolve: ({ logs_per_minute }) => logs_per_minute }),
    otherPerMinute: t.int({ resolve: ({ default_per_minute }) => default_per_minute }),
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
    captureBytesLimit: t.exposeInt('capture_bytes_limit', { nullable: true, description: NO_LIMIT }),
  }),
});

export const Workspace = builder.objectRef<WorkspaceEntry>('Workspace');
claimIds('workspace', 'Workspace');
builder.node(Workspace, {
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.workspaces.loadMany(ids),
  fields: (t) => ({
    name: t.exposeString('name'),
    plan: t.field({ type: Plan, resolve: ({ plan }) => plan }),
    unknownPolicy: t.field({ type: UnknownPolicy, resolve: ({ unknown_policy }) => unknown_policy }),
    usage: t.field({
      type: UsageType,
      args: { month: t.arg.string({ description: 'Such as 2025-01. Default: the current month.' }) },
      resolve: async ({ id }, { month }, { load }) => ({
        ...(await load.usageOf(month ?? null).load(id)),
        workspace_id: id,
      }),
    }),
    createdAt: t.field({ type: 'DateTime', resolve: ({ created_at }) => created_at }),
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
    description: 'Requires operator.',
    resolve: async (_, __, g) => (await call(g, listPlans, {})).data,
  }),
}));

const WorkspacePayload = builder.objectRef<{ readonly workspace: WorkspaceEntry }>('WorkspacePayload').implement({
  fields: (t) => ({ workspace: t.field({ type: Workspace, resolve: ({ workspace }) => workspace }) }),
});
const WorkspaceResult = resultOf('WorkspaceResult', WorkspacePayload);

const WorkspaceCreatePayload = builder.objectRef<CreatedWorkspace>('WorkspaceCreatePayload').implement({
  fields: (t) => ({
    workspace: t.field({ type: Workspace, resolve: (workspace) => workspace }),
    apiKeyId: t.id({ description: 'Its first key, with the admin scope.', resolve: ({ api_key }) => api_key.id }),
    secret: t.string({
      description: 'The secret of that key. Only returned here.',
      resolve: ({ api_key }) => api_key.secret,
    }),
  }),
});
const WorkspaceCreateResult = resultOf('WorkspaceCreateResult', WorkspaceCreatePayload);

const PlanPayload = builder.objectRef<{ readonly plan: PlanEntry }>('PlanPayload').implement({
  fields: (t) => ({ plan: t.field({ type: Plan, resolve: ({ plan }) => plan }) }),
});
const PlanResult = resultOf('PlanResult', PlanPayload);

const WorkspaceInput = builder.inputType('WorkspaceInput', {
  fields: (t) => ({ name: t.string({ required: true }), plan: t.string({ required: true }) }),
});

const WorkspaceUpdateInput = builder.inputType('WorkspaceUpdateInput', {
  fields: (t) => ({
    id: t.id({ description: "Default: the key's workspace." }),
    name: t.string(),
    unknownPolicy: t.field({ type: UnknownPolicy }),
    reason: t.string({ description: 'Reason for the audit log.' }),
  }),
});

const PlanInput = builder.inputType('PlanInput', {
  fields: (t) => ({
    id: t.id({ required: true, description: 'The workspace ID.' }),
    plan: t.string({ required: true, description: 'The name of the plan.' }),
    reason: t.string({ description: 'Reason for the audit log.' }),
  }),
});

const PlanLimitsInput = builder.inputType('PlanLimitsInput', {
  fields: (t) => ({
    name: t.string({ required: true }),
    monthlyEmails: t.int({ description: 'null: no limit. Default: unchanged.' }),
    maxRecipientsPerRequest: t.int({ description: 'Required for a new plan.' }),
    sendPerMinute: t.int(),
    logsPerMinute: t.int(),
    otherPerMinute: t.int(),
    sandboxLogsPerMinute: t.int({ description: 'Per sandbox key.' }),
    sandboxOtherPerMinute: t.int({ description: 'Per sandbox key.' }),
    workspaceRate: t.int({ description: 'null: no limit. Default: unchanged.' }),
    apiKeyLimit: t.int({ description: 'null: no limit. Default: unchanged.' }),
    domainLimit: t.int({ description: 'null: no limit. Default: unchanged.' }),
    webhookLimit: t.int({ description: 'null: no limit. Default: unchanged.' }),
    memberLimit: t.int({ description: 'null: no limit. Default: unchanged.' }),
    captureBytesLimit: t.int({ description: 'null: no limit. Default: unchanged.' }),
    reason: t.string({ description: 'Reason for the audit log.' }),
  }),
});

const PlanDeleteInput = builder.inputType('PlanDeleteInput', {
  fields: (t) => ({ name: t.string({ required: true }) }),
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
    args: { input: t.arg({ type: WorkspaceInput, required: true }) },
    resolve: (_, { input }, g) => outcome(() => call(g, createWorkspace, input)),
  }),
  workspaceUpdate: t.field({
    type: WorkspaceResult,
    args: { input: t.arg({ type: WorkspaceUpdateInput, required: true }) },
    resolve: (_, { input }, g) => outcome(async () => ({ workspace: await call(g, updateWorkspace, input) })),
  }),
  workspaceSetPlan: t.field({
    type: WorkspaceResult,
    description: 'Takes effect on the next request. Email already sent this month still counts toward the quota.',
    args: { input: t.arg({ type: PlanInput, required: true }) },
    resolve: (_, { input }, g) => outcome(async () => ({ workspace: await call(g, setWorkspacePlan, input) })),
  }),
  planCreate: t.field({
    type: PlanResult,
    args: { input: t.arg({ type: PlanLimitsInput, required: true }) },
    resolve: (_, { input }, g) => outcome(async () => ({ plan: await invoke(g.ctx, createPlan, limitsOf(input)) })),
  }),
  planUpdate: t.field({
    type: PlanResult,
    description: 'Takes effect on the next request from each workspace on the plan.',
    args: { input: t.arg({ type: PlanLimitsInput, required: true }) },
    resolve: (_, { input }, g) => outcome(async () => ({ plan: await invoke(g.ctx, updatePlan, limitsOf(input)) })),
  }),
  planDelete: t.field({
    type: DeleteResult,
    args: { input: t.arg({ type: PlanDeleteInput, required: true }) },
    resolve: (_, { input }, g) => outcome(async () => ({ deleted_id: (await call(g, deletePlan, input)).name })),
  }),
}));
