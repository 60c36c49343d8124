import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { createContext } from '../create-context.ts';
import { invoke } from '../operation/operation.ts';
import type { Scope } from '../operation/scopes.ts';
import { getMonthUsage } from './month-usage.ts';

const world = await openWorld();

function withScopes(scopes: readonly Scope[]) {
  const { workspace_id } = world;
  return createContext(world.services, {
    kind: 'key',
    workspace_id,
    key_id: 'key_1',
    scopes,
    mode: 'live',
    domains: null,
  });
}

describe('monthly usage', () => {
  it('is projected from the elapsed days, and is final once the month is over', async () => {
    await world.clock.freeze(new Date('2031-04-10T00:00:00.000Z'));
    const { workspace_id } = await world.workspace('free');
    await world.domain('free.test', workspace_id);
    const to = ['a@example.com', 'b@example.com', 'c@example.com'];
    await invoke(world.as(workspace_id), sendMessage, { from: 'a@free.test', to, subject: 'Hello', text: 'Hi' });
    const operator = withScopes(['operator']);

    const present = await invoke(operator, getMonthUsage, { workspace_id });
    await world.clock.freeze(new Date('2031-05-02T00:00:00.000Z'));
    const past = await invoke(operator, getMonthUsage, { workspace_id, month: '2031-04' });
    const empty = await invoke(world.as(workspace_id), getMonthUsage, {});

    expect(present).toMatchObject({ month: '2031-04', used: 3, limit: 3000, remaining: 2997 });
    expect(present.projected_end_of_month).toBe(10);
    expect(present.by_day).toHaveLength(10);
    expect(present.by_day.at(-1)).toEqual({ date: '2031-04-10', used: 3 });
    expect(past).toMatchObject({
      used: 3,
      limit: 3000,
      projected_end_of_month: 3,
      resets_at: '2031-05-01T00:00:00.000Z',
    });
    expect(past.by_day).toHaveLength(30);
    expect(empty).toMatchObject({ month: '2031-05', used: 0, projected_end_of_month: 0 });
  });

  it('covers an admin’s own workspace, and is rejected for a month that has not begun', async () => {
    const { workspace_id } = await world.workspace('free');
    const admin = withScopes(['admin']);

    await expect(invoke(admin, getMonthUsage, { workspace_id })).rejects.toMatchObject({
      reason: 'workspace_not_found',
    });
    await expect(invoke(admin, getMonthUsage, { month: '2131-01' })).rejects.toMatchObject({ reason: 'invalid_range' });
    await expect(invoke(admin, getMonthUsage, { month: '2031-13' })).rejects.toMatchObject({ reason: 'invalid_type' });
  });
});
