import { randomUUID } from 'node:crypto';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { keyUsage } from '../api-keys/index.ts';
import { createContext } from '../create-context.ts';
import { noteWorker } from '../delivery/index.ts';
import { createHold } from '../holds/index.ts';
import { invoke } from '../operation/operation.ts';
import { rollUpStats } from '../stats/index.ts';
import { createWebhook } from '../webhooks/index.ts';
import { onboardingState } from './onboarding-state.ts';
import { overviewSummary } from './overview-summary.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const mail = { from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };

const world = await openWorld();
beforeAll(async () => {
  await world.clock.freeze(new Date(Date.UTC(2030, 4, 15, 12)));
  await world.services.sql`update roll_ups set early_until = clock_now(), final_until = clock_now()`;
});

const work = () =>
  noteWorker(world.services.sql, { worker: randomUUID(), stopped: false, ended_per_minute: 0 }, 86_400_000);

describe('onboarding steps', () => {
  it('are complete as soon as the first required object exists', async () => {
    const { workspace_id } = await world.workspace('business');
    const ctx = world.as(workspace_id);
    const done = async () =>
      (await invoke(ctx, onboardingState, {})).steps.filter(({ done_at }) => done_at !== null).map(({ name }) => name);

    expect(await done()).toEqual(['key']);
    await world.domain('mail.example.com', workspace_id);
    expect(await done()).toEqual(['key', 'domain', 'verify']);
    await invoke(ctx, createWebhook, { url: 'http://127.0.0.1/hook' });
    await invoke(ctx, sendMessage, { ...mail, from: 'shop@mail.example.com' });
    expect(await invoke(ctx, onboardingState, {})).toMatchObject({ done: true });
  });
});

describe('the overview', () => {
  it('counts email by outcome, and lists problems that require action', async () => {
    const { workspace_id, services } = world;
    const ctx = world.as(workspace_id);
    const { id: key_id } = await world.key({ scopes: ['email:send'] });
    const actor = {
      kind: 'key',
      workspace_id,
      key_id,
      scopes: ['email:send'],
      mode: 'live',
      domains: null,
    } as const;
    await invoke(createContext(services, actor), sendMessage, mail);
    await world.drain();
    await world.domain('lost.example.com');
    await services.sql`update domains set status = 'at_risk', status_since = clock_now() where name = 'lost.example.com'`;
    await invoke(ctx, createHold, { scope: 'sender_domain', value: 'lost.example.com', reason: 'Too loud' });
    await invoke(ctx, sendMessage, { ...mail, from: 'shop@lost.example.com', to: 'bob@slow.example.net' });
    await world.drain();
    await world.clock.advance(10 * MINUTE_MS);
    await rollUpStats(services);
    await work();

    const overview = await invoke(ctx, overviewSummary, {});

    expect(overview.totals).toMatchObject({ accepted: 2, delivered: 1, failed: 0 });
    expect(overview.accept_to_delivered_p95_seconds).toEqual(expect.any(Number));
    expect(overview.waiting.count).toBe(1);
    expect(overview.usage).toMatchObject({ used: 2, limit: null });
    expect(overview.problems).toMatchObject([
      { kind: 'domain', state: 'at_risk', severity: 'warning', count: 1, names: ['lost.example.com'] },
      // The email to slow.example.net waits for the hold, which is not a problem of its own.
      { kind: 'hold', state: 'sender_domain', severity: 'warning', count: 1 },
    ]);
    const since = new Date(world.clock.now() - HOUR_MS).toISOString();
    expect(await invoke(ctx, keyUsage, { key_id, since, bucket: 'hour' })).toMatchObject({ accepted: 1 });
  });

  it('lists no problems if there are none, and warns before the plan’s limit is reached', async () => {
    const { workspace_id } = await world.workspace('free');
    const ctx = world.as(workspace_id);

    await work();
    expect((await invoke(ctx, overviewSummary, {})).problems).toEqual([]);
    await world.services.sql`
      insert into usage_months (workspace_id, month, used) values (${workspace_id}, '2030-05-01', 2700)`;
    expect((await invoke(ctx, overviewSummary, {})).problems).toMatchObject([
      { kind: 'quota', severity: 'warning', count: 90 },
    ]);
  });
});
