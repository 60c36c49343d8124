import { startWebhookSink, type WebhookSink } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendMessage } from '../../accept/index.ts';
import { invoke } from '../../operation/operation.ts';
import { createWebhook } from '../endpoints/create-webhook.ts';
import { getWebhookDelivery } from './get-delivery.ts';
import { listWebhookDeliveries } from './list-deliveries.ts';
import { replayWebhookDelivery } from './replay-delivery.ts';

const MINUTE_MS = 60_000;

const world = await openWorld();
let sink: WebhookSink;
beforeAll(async () => {
  sink = await startWebhookSink({ now: world.clock.now });
});
afterAll(() => sink.stop());

describe('a webhook delivery', () => {
  it('shows each attempt’s request and response, including attempts before a replay', async () => {
    const ctx = world.as(world.workspace_id);
    const { id, secret, url } = await invoke(ctx, createWebhook, { url: `${sink.url}/hook`, events: ['email.queued'] });
    sink.script(() => ({ kind: 'reply', status: 503 }));
    await invoke(ctx, sendMessage, { from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Hi', text: 'Hi' });
    await world.postWebhooks();
    sink.script(() => ({ kind: 'reply', status: 200 }));
    await world.clock.advance(MINUTE_MS);
    await world.postWebhooks();
    const [delivery] = (await invoke(ctx, listWebhookDeliveries, { id })).data;
    const delivery_id = delivery?.id ?? '';

    const delivered = await invoke(ctx, getWebhookDelivery, { id, delivery_id });
    await invoke(ctx, replayWebhookDelivery, { id, delivery_id });
    await world.clock.advance(MINUTE_MS);
    await world.postWebhooks();
    const replayed = await invoke(ctx, getWebhookDelivery, { id, delivery_id });

    expect(delivered).toMatchObject({ id: delivery_id, url, status: 'delivered', attempts: 2 });
    expect(delivered.posts).toMatchObject([
      {
        number: 1,
        response_status: 503,
        request_headers: { 'webhook-id': delivered.event_id, 'content-type': 'application/json' },
        response_headers: expect.any(Object),
        error: null,
      },
      {
        number: 2,
        response_status: 200,
        request_headers: { 'webhook-id': delivered.event_id, 'content-type': 'application/json' },
        response_headers: expect.any(Object),
      },
    ]);
    const [rejected] = sink.requests;
    expect(rejected?.headers).toMatchObject(delivered.posts[0]?.request_headers ?? {});
    expect(JSON.parse(rejected?.body.toString() ?? '')).toEqual(delivered.request_body);
    // The stored headers and body are enough to verify the signature.
    new Webhook(secret).verify(rejected?.body.toString() ?? '', { ...delivered.posts[0]?.request_headers });
    expect(replayed.posts.map(({ number, response_status }) => [number, response_status])).toEqual([
      [1, 503],
      [2, 200],
      [1, 200],
    ]);
    // A first attempt that succeeds has no row of its own.
    expect(replayed.posts.at(-1)).toMatchObject({ request_headers: null, response_headers: null });
    const rows = await world.services.sql<{ number: number }[]>`
      select number from webhook_attempts where delivery_id = ${delivery_id} order by at`;
    expect(rows.map(({ number }) => number)).toEqual([1, 2]);
  });

  it('shows a success after failures recorded by an earlier release', async () => {
    const ctx = world.as(world.workspace_id);
    const { id } = await invoke(ctx, createWebhook, { url: `${sink.url}/old`, events: ['email.queued'] });
    sink.script(({ path }) => ({ kind: 'reply', status: path === '/old' ? 503 : 200 }));
    await invoke(ctx, sendMessage, { from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Hi', text: 'Hi' });
    await world.postWebhooks();
    sink.script(() => ({ kind: 'reply', status: 200 }));
    await world.clock.advance(MINUTE_MS);
    await world.postWebhooks();
    const [delivery] = (await invoke(ctx, listWebhookDeliveries, { id })).data;
    const delivery_id = delivery?.id ?? '';

    await world.services.sql`delete from webhook_attempts where delivery_id = ${delivery_id} and number = 2`;
    const { posts } = await invoke(ctx, getWebhookDelivery, { id, delivery_id });

    expect(posts.map(({ number, response_status }) => [number, response_status])).toEqual([
      [1, 503],
      [2, 200],
    ]);
  });

  it('shows why no response was received, and is hidden from other workspaces', async () => {
    const { workspace_id } = await world.workspace('free');
    const ctx = world.as(workspace_id);
    const { id } = await invoke(ctx, createWebhook, { url: 'http://127.0.0.1:65000/hook' });
    await world.domain('mail.example.com', workspace_id);
    await invoke(ctx, sendMessage, { from: 'shop@mail.example.com', to: 'ada@example.com', subject: 'Hi', text: 'Hi' });
    await world.postWebhooks();
    const [delivery] = (await invoke(ctx, listWebhookDeliveries, { id })).data;

    const { posts } = await invoke(ctx, getWebhookDelivery, { id, delivery_id: delivery?.id ?? '' });

    expect(posts).toMatchObject([{ number: 1, response_status: null, error: expect.stringContaining('ECONNREFUSED') }]);
    await expect(
      invoke(world.as(world.workspace_id), getWebhookDelivery, { id, delivery_id: delivery?.id ?? '' }),
    ).rejects.toThrow(/No delivery/);
  });
});
