import { invoke } from '@postrider/core';
import { getMonthUsage } from '@postrider/core/usage';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { refusalOf, signedIn } from './signed-in.ts';

const world = await openWorld();
const admin = await openAdmin(world);

describe('workspaces, plans and the audit log in the dashboard', () => {
  it('let an operator create a workspace, move it to another plan, and see who did so', async () => {
    const { api, email } = await signedIn(world, admin, 'operator');

    const workspace = await api.workspaces.create.mutate({ name: 'Other', plan: 'free' });
    const moved = await api.workspaces.setPlan.mutate({ id: workspace.id, plan: 'growth', reason: 'grown' });
    const changed = await api.plans.update.mutate({ name: 'growth', send_per_minute: 500 });
    const usage = await invoke(world.as(workspace.id), getMonthUsage, {});
    const log = await api.audit.list.query({ chain: 'instance', action: 'workspace.plan_set' });

    expect(moved.plan.name).toBe('growth');
    expect(changed.send_per_minute).toBe(500);
    expect(usage).toMatchObject({ used: 0, limit: 500_000 });
    expect(log.data).toMatchObject([
      { actor: { kind: 'user', name: email }, via: 'dashboard', target_id: workspace.id, reason: 'grown' },
    ]);
    expect(await api.audit.verify.query({ chain: 'instance' })).toMatchObject({ complete: true, broken: null });
  });

  it('let an admin see and change only their own workspace', async () => {
    const { api } = await signedIn(world, admin, 'admin');
    const other = await world.workspace('free');

    const changed = await api.workspaces.update.mutate({ unknown_policy: 'stop' });
    const log = await api.audit.list.query({ action: 'workspace.updated' });

    expect(changed).toMatchObject({ id: world.workspace_id, unknown_policy: 'stop' });
    expect(log.data).toMatchObject([{ diff: { unknown_policy: ['resend', 'stop'] } }]);
    expect(await refusalOf(api.workspaces.get.query({ id: other.workspace_id }))).toMatchObject({ status: 404 });
    expect(await refusalOf(api.plans.list.query())).toMatchObject({ status: 403, reason: 'missing_scope' });
    expect(await refusalOf(api.audit.list.query({ chain: 'instance' }))).toMatchObject({ status: 403 });
  });
});
