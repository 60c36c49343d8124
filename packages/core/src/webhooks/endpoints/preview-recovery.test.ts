import { startWebhookSink, type WebhookSink } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendMessage } from '../../accept/index.ts';
import { invoke } from '../../operation/operation.ts';
import { giveUpDeliveries } from '../deliveries/give-up-open.ts';
import { oweRange } from '../deliveries/owe-range.ts';
import { createWebhook } from './create-webhook.ts';
import { previewRecovery } from './preview-recovery.ts';
import { recoverWebhook } from './recover-webhook.ts';
import { updateWebhook } from './update-webhook.ts';

const world = await openWorld();
let sink: WebhookSink;
beforeAll(async () => {
  sink = await startWebhookSink({ now: world.clock.now });
  await world.clock.freeze(new Date(world.clock.now()));
});
afterAll(() => sink.stop());

describe('the preview of a recovery', () => {
  it('counts failed and missed events with their times, and names those that are left alone', async () => {
    const { workspace_id } = await world.workspace('business');
    await world.domain(`m${workspace_id.slice(-8)}.test`, workspace_id);
    const ctx = world.as(workspace_id);
    const { id } = await invoke(ctx, createWebhook, { url: `${sink.url}/hook`, events: ['email.queued'] });
    const since = new Date(world.clock.now()).toISOString();
    const from = `a@m${workspace_id.slice(-8)}.test`;
    const send = async () => {
      await world.clock.advance(1000);
      await invoke(ctx, sendMessage, { from, to: 'ada@example.com', subject: 'Hi', text: 'Hi' });
      return new Date(world.clock.now()).toISOString();
    };
    const preview = async () => {
      await world.clock.advance(1);
      return invoke(ctx, previewRecovery, { id, since });
    };
    const none = { matched: 0, matched_exact: true, first_at: null, last_at: null, pending: 0, delivered: 0 };
    expect(await preview()).toEqual(none);
    await send();
    await world.postWebhooks();
    const first_at = await send();
    expect(await preview()).toEqual({ ...none, pending: 1, delivered: 1 });

    await invoke(ctx, updateWebhook, { id, status: 'disabled' });
    await giveUpDeliveries(world.services, id);
    const last_at = await send();
    await expect(preview()).rejects.toMatchObject({ reason: 'webhook_disabled' });
    await invoke(ctx, updateWebhook, { id, status: 'enabled' });

    expect(await preview()).toEqual({ ...none, matched: 2, first_at, last_at, delivered: 1 });
    await invoke(ctx, recoverWebhook, { id, since });
    const jobs = await world.services.jobs.fetch('webhook.recover', 10);
    for (const { data } of jobs) await oweRange(world.services, data);
    expect(await preview()).toEqual({ ...none, pending: 2, delivered: 1 });
  });
});
