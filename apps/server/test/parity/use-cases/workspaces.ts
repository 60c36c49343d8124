import { invoke } from '@postrider/core';
import {
  createPlan,
  createWorkspace,
  deletePlan,
  getWorkspace,
  listPlans,
  listWorkspaces,
  setWorkspacePlan,
  updatePlan,
  updateWorkspace,
} from '@postrider/core/workspaces';
import * as shapes from '../shapes.ts';
import { absent, camelFields, connection, mutation, reading, type Setup, type UseCase, useCase } from '../use-case.ts';
import { emptySetup, NO_REST, several, withInput } from './setup.ts';

const aPlan: UseCase['given'] = async (world, workspace_id, number) => {
  const { name } = await invoke(world.as(workspace_id), createPlan, { name: `nr${number}`, recipients_per_request: 5 });
  return { input: { name } };
};

const aWorkspace: UseCase['given'] = async (world) => ({ input: { id: (await world.workspace('free')).workspace_id } });

export const workspaces = [
  useCase(listWorkspaces, {
    rest: NO_REST,
    trpc: 'GET workspaces.list',
    graphql: connection('workspaces', shapes.workspace),
    given: (world) => several(() => world.workspace('free')),
    paged: true,
    bad: { limit: 0 },
  }),
  useCase(getWorkspace, {
    rest: NO_REST,
    trpc: 'GET workspaces.get',
    graphql: reading('workspace', {}, shapes.workspace),
    given: emptySetup,
    scope: 'admin',
    scope_on: { graphql: absent('An operator sees every workspace.') },
  }),
  useCase(createWorkspace, {
    rest: NO_REST,
    trpc: 'POST workspaces.create',
    graphql: mutation(
      'workspaceCreate',
      'WorkspaceInput',
      'WorkspaceCreatePayload',
      `of: workspace { ${shapes.workspace} } secret`,
    ),
    given: withInput({ name: 'Shop', plan: 'free' }),
    writes: true,
    // GraphQL returns the key beside the workspace.
    varying: ['api_key', 'secret'],
    bad: { name: '' },
  }),
  useCase(updateWorkspace, {
    rest: NO_REST,
    trpc: 'POST workspaces.update',
    graphql: mutation(
      'workspaceUpdate',
      'WorkspaceUpdateInput',
      'WorkspacePayload',
      `of: workspace { ${shapes.workspace} }`,
    ),
    async given(world, workspace_id, number) {
      const { input } = await aWorkspace(world, workspace_id, number);
      return { input: { ...input, name: 'Renamed' } };
    },
    target: 'id',
    scope: 'admin',
    scope_on: { graphql: absent('An operator changes every workspace.') },
    writes: true,
    bad: { name: '' },
  }),
  useCase(setWorkspacePlan, {
    rest: NO_REST,
    trpc: 'POST workspaces.setPlan',
    graphql: mutation('workspaceSetPlan', 'PlanInput', 'WorkspacePayload', `of: workspace { ${shapes.workspace} }`),
    async given(world, workspace_id, number) {
      const { input } = await aWorkspace(world, workspace_id, number);
      return { input: { ...input, plan: 'business' } };
    },
    target: 'id',
    foreign: false,
    writes: true,
    bad: { plan: 'none' },
  }),
  useCase(listPlans, {
    rest: NO_REST,
    trpc: 'GET plans.list',
    graphql: reading('plans', {}, shapes.plan, undefined, (data) => ({ data })),
    given: emptySetup,
  }),
  useCase(createPlan, {
    rest: NO_REST,
    trpc: 'POST plans.create',
    graphql: mutation('planCreate', 'PlanLimitsInput', 'PlanPayload', `of: plan { ${shapes.plan} }`, planInput),
    given: async (_, __, number) => ({
      input: { name: `nr${number}`, recipients_per_request: 5, monthly_emails: null },
    }),
    writes: true,
    bad: { default_per_minute: 0 },
  }),
  useCase(updatePlan, {
    rest: NO_REST,
    trpc: 'POST plans.update',
    graphql: mutation('planUpdate', 'PlanLimitsInput', 'PlanPayload', `of: plan { ${shapes.plan} }`, planInput),
    async given(world, workspace_id, number) {
      const { input } = await aPlan(world, workspace_id, number);
      return { input: { ...input, send_per_minute: 7, default_per_minute: 8 } };
    },
    target: 'name',
    foreign: false,
    writes: true,
    bad: { send_per_minute: 0 },
  }),
  useCase(deletePlan, {
    rest: NO_REST,
    trpc: 'POST plans.delete',
    graphql: mutation('planDelete', 'PlanDeleteInput', 'DeletePayload', 'name: deletedId'),
    given: aPlan,
    target: 'name',
    foreign: false,
    writes: true,
  }),
];

function planInput({ input: { recipients_per_request, default_per_minute, ...input } }: Setup) {
  return {
    ...camelFields(input),
    maxRecipientsPerRequest: recipients_per_request,
    otherPerMinute: default_per_minute,
  };
}
