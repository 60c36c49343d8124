import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { listAudit } from '../audit/index.ts';
import { createContext } from '../create-context.ts';
import { getMessage } from '../messages/index.ts';
import type { Context } from '../operation/context.ts';
import { invoke } from '../operation/operation.ts';
import type { Scope } from '../operation/scopes.ts';
import { hashSecret } from '../operation/secrets.ts';
import { createPlan } from './create-plan.ts';
import { createWorkspace } from './create-workspace.ts';
import { deletePlan } from './delete-plan.ts';
import { getWorkspace } from './get-workspace.ts';
import { listPlans } from './list-plans.ts';
import { listWorkspaces } from './list-workspaces.ts';
import { setWorkspacePlan } from './set-plan.ts';
import { updatePlan } from './update-plan.ts';
import { updateWorkspace } from './update-workspace.ts';

const world = await openWorld();
let operator: Context;
beforeAll(async () => {
  const { id } = await world.key({ scopes: ['operator'] });
  operator = withScopes(world.workspace_id, ['operator'], id);
});

function withScopes(workspace_id: string, scopes: readonly Scope[], key_id = 'key_1'): Context {
  return createContext(world.services, {
    kind: 'key',
    workspace_id,
    key_id,
    scopes,
    mode: 'live',
    domains: null,
  });
}

/** Creates the context of a request with a key's secret, as the submit batcher receives it. */
function withSecret(secret: string): Context {
  return createContext(world.services, {
    kind: 'credential',
    secret_hash: hashSecret(secret),
    address: '127.0.0.1',
  });
}

const create = (plan = 'free') => invoke(operator, createWorkspace, { name: 'Other', plan });
const mail = (to: readonly string[]) => ({ from: 'hello@sandbox.test', to, subject: 'Hello', text: 'Hi' });
/** Returns actions newest first, in order even within one millisecond. */
async function actions(ctx: Context, input: object) {
  const { data } = await invoke(ctx, listAudit, input);
  const sorted = data.toSorted((left, right) => right.sequence - left.sequence);
  return sorted.map((entry) => [entry.action, entry.diff, entry.reason]);
}

describe('a new workspace', () => {
  it('can send immediately, with the key created for it', async () => {
    const workspace = await create('starter');

    expect(workspace).toMatchObject({ object: 'workspace', name: 'Other', unknown_policy: 'resend' });
    expect(workspace.plan).toMatchObject({ name: 'starter', monthly_emails: 50_000, recipients_per_request: 50 });
    const { id } = await invoke(withSecret(workspace.api_key.secret), sendMessage, mail(['ada@example.com']));
    await world.drain();
    expect(await invoke(world.as(workspace.id), getMessage, { id })).toMatchObject({ status: 'delivered' });
  });

  it('appears in its own audit log and in the instance’s, without the secret', async () => {
    const workspace = await create();

    const [own] = await actions(world.as(workspace.id), {});
    const [all] = await actions(operator, { chain: 'instance', target_id: workspace.id });
    expect(own).toEqual(['workspace.created', { name: 'Other', plan: 'free' }, null]);
    expect(all).toEqual(own);
  });

  it('is rejected if its plan does not exist', async () => {
    await expect(create('golden')).rejects.toMatchObject({ reason: 'plan_not_found' });
  });
});

describe('the workspace list', () => {
  it('is paged with the newest first, and is limited to operators', async () => {
    await world.clock.advance(1000);
    const first = await create();
    await world.clock.advance(1000);
    const second = await create();

    const page = await invoke(operator, listWorkspaces, { limit: 1 });
    const next = await invoke(operator, listWorkspaces, { limit: 1, cursor: page.next_cursor });

    expect([page.data[0]?.id, next.data[0]?.id]).toEqual([second.id, first.id]);
    const admin = withScopes(world.workspace_id, ['admin']);
    await expect(invoke(admin, listWorkspaces, {})).rejects.toMatchObject({ reason: 'missing_scope' });
  });
});

describe('a workspace', () => {
  it('can be viewed and updated by its admin or by an outside operator', async () => {
    const { id } = await create();
    const admin = withScopes(id, ['admin']);

    await invoke(admin, updateWorkspace, { unknown_policy: 'stop' });
    await invoke(operator, updateWorkspace, { id, name: 'Renamed', reason: 'asked by phone' });

    const workspace = await invoke(admin, getWorkspace, {});
    expect(workspace).toMatchObject({ id, name: 'Renamed', unknown_policy: 'stop' });
    expect(await invoke(operator, getWorkspace, { id })).toEqual(workspace);
    expect(await actions(admin, { action: 'workspace.updated' })).toEqual([
      ['workspace.updated', { name: ['Other', 'Renamed'] }, 'asked by phone'],
      ['workspace.updated', { unknown_policy: ['resend', 'stop'] }, null],
    ]);
    expect(await actions(operator, { chain: 'instance', target_id: id, action: 'workspace.updated' })).toHaveLength(1);
  });

  it('is reported as not found to an admin of another account', async () => {
    const { id } = await create();
    const admin = withScopes(world.workspace_id, ['admin']);
    const reader = withScopes(world.workspace_id, ['email:logs:read']);

    for (const id_param of [id, 'wsp_none']) {
      await expect(invoke(admin, getWorkspace, { id: id_param })).rejects.toMatchObject({
        reason: 'workspace_not_found',
      });
      await expect(invoke(admin, updateWorkspace, { id: id_param, name: 'Mine' })).rejects.toMatchObject({
        reason: 'workspace_not_found',
      });
    }
    await expect(invoke(operator, getWorkspace, { id: 'wsp_none' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(invoke(reader, updateWorkspace, { name: 'Mine' })).rejects.toMatchObject({ reason: 'missing_scope' });
  });
});

describe('a plan', () => {
  it('applies from the next request after a change, despite cached data in the process', async () => {
    const { id, api_key } = await create('starter');
    const many = mail(Array.from({ length: 20 }, (_, index) => `a${index}@example.com`));
    await invoke(withSecret(api_key.secret), sendMessage, many);
    await invoke(withSecret(api_key.secret), sendMessage, many);

    await invoke(operator, setWorkspacePlan, { id, plan: 'free', reason: 'unpaid' });

    await expect(invoke(withSecret(api_key.secret), sendMessage, many)).rejects.toMatchObject({
      reason: 'recipient_cap_exceeded',
    });
    expect(await actions(world.as(id), { action: 'workspace.plan_set' })).toEqual([
      ['workspace.plan_set', { plan: ['starter', 'free'] }, 'unpaid'],
    ]);
    await expect(invoke(operator, setWorkspacePlan, { id, plan: 'golden' })).rejects.toMatchObject({
      reason: 'plan_not_found',
    });
    await expect(invoke(operator, setWorkspacePlan, { id: 'wsp_none', plan: 'free' })).rejects.toMatchObject({
      reason: 'workspace_not_found',
    });
  });

  it('can be created, edited with effect from the next request, and deleted once unused', async () => {
    await invoke(operator, createPlan, { name: 'tiny', monthly_emails: 100, recipients_per_request: 5 });
    const { id, api_key } = await create('tiny');
    const two = mail(['a@example.com', 'b@example.com']);
    await invoke(withSecret(api_key.secret), sendMessage, two);

    const changed = await invoke(operator, updatePlan, { name: 'tiny', monthly_emails: 3, reason: 'cheaper' });

    expect(changed).toMatchObject({ monthly_emails: 3, recipients_per_request: 5, send_per_minute: 1000 });
    await expect(invoke(withSecret(api_key.secret), sendMessage, two)).rejects.toMatchObject({
      reason: 'quota_exceeded',
    });
    await invoke(operator, updatePlan, { name: 'tiny', monthly_emails: null });
    await invoke(withSecret(api_key.secret), sendMessage, two);
    await expect(invoke(operator, deletePlan, { name: 'tiny' })).rejects.toMatchObject({ reason: 'plan_in_use' });
    await invoke(operator, setWorkspacePlan, { id, plan: 'free' });
    await invoke(operator, deletePlan, { name: 'tiny' });
    expect((await invoke(operator, listPlans, {})).data.map(({ name }) => name)).toEqual([
      'business',
      'free',
      'growth',
      'starter',
    ]);
    expect((await actions(operator, { chain: 'instance', target_id: 'tiny' })).toReversed()).toMatchObject([
      ['plan.created', { monthly_emails: 100 }, null],
      ['plan.updated', { monthly_emails: [100, 3] }, 'cheaper'],
      ['plan.updated', { monthly_emails: [3, null] }, null],
      ['plan.deleted', {}, null],
    ]);
  });

  it.each([
    ['monthly_emails', -1],
    ['monthly_emails', 1.5],
    ['recipients_per_request', 0],
    ['recipients_per_request', 5000],
    ['send_per_minute', 0],
    ['logs_per_minute', -60],
    ['default_per_minute', Number.NaN],
    ['workspace_rate', 0],
  ])('cannot have %s set to %d', async (field, value) => {
    const limits = { recipients_per_request: 10, [field]: value };
    await expect(invoke(operator, createPlan, { name: 'odd', ...limits })).rejects.toMatchObject({
      reason: 'invalid_type',
    });
    await expect(invoke(operator, updatePlan, { name: 'free', [field]: value })).rejects.toMatchObject({
      reason: 'invalid_type',
    });
  });

  it('cannot have the same name as another plan', async () => {
    await expect(invoke(operator, createPlan, { name: 'free', recipients_per_request: 1 })).rejects.toMatchObject({
      reason: 'plan_exists',
    });
  });
});
