import { startWebhookSink, type WebhookSink } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sendMessage } from '../../accept/index.ts';
import { createContext } from '../../create-context.ts';
import { createHold, releaseHold } from '../../holds/index.ts';
import { getMessage } from '../../messages/index.ts';
import { invoke } from '../../operation/operation.ts';
import { createWebhook } from '../endpoints/create-webhook.ts';
import { getWebhook } from '../endpoints/get-webhook.ts';
import { updateWebhook } from '../endpoints/update-webhook.ts';
import { listWebhookDeliveries } from './list-deliveries.ts';
import { replayWebhookDelivery } from './replay-delivery.ts';

const MINUTE_MS = 60_000;
/** As many consecutive failures pause an endpoint. */
const FAILURES = 5;

const world = await openWorld();
let sink: WebhookSink;
beforeAll(async () => {
  sink = await startWebhookSink({ now: world.clock.now });
});
beforeEach(() => sink.script(() => ({ kind: 'reply', status: 503 })));
afterAll(() => sink.stop());

/** Creates a separate workspace with an endpoint. */
async function home() {
  const { workspace_id, key_id } = await world.workspace('business');
  await world.domain(`m${workspace_id.slice(-8)}.test`, workspace_id);
  const ctx = world.as(workspace_id);
  const from = `a@m${workspace_id.slice(-8)}.test`;
  const { id } = await invoke(ctx, createWebhook, { url: `${sink.url}/hook`, events: ['email.queued'] });
  return {
    ctx,
    id,
    workspace_id,
    key_id,
    send: () => invoke(ctx, sendMessage, { from, to: 'ada@example.com', subject: 'Hi', text: 'Hi' }),
    list: async () => (await invoke(ctx, listWebhookDeliveries, { id })).data,
  };
}

describe('a pending delivery', () => {
  it('waits for nothing but its own schedule while its endpoint is healthy', async () => {
    const { send, list } = await home();
    await send();
    expect((await list()).map(({ waiting }) => waiting)).toEqual([null]);

    await world.postWebhooks();

    expect(await list()).toMatchObject([{ status: 'pending', attempts: 1, waiting: null }]);
  });

  it('waits for the end of its endpoint’s pause, even after a replay', async () => {
    const { ctx, id, send, list } = await home();
    for (let count = 0; count < FAILURES; count++) await send();
    await world.postWebhooks();
    const { paused_until } = await invoke(ctx, getWebhook, { id });
    const [newest] = await list();

    const replayed = await invoke(ctx, replayWebhookDelivery, { id, delivery_id: newest?.id ?? '' });

    expect(paused_until).not.toBe(null);
    expect(replayed).toMatchObject({ status: 'pending', attempts: 0 });
    expect(replayed.waiting).toEqual({ reason: 'endpoint_paused', until: paused_until, hold_id: null });
    expect((await list()).map(({ waiting }) => waiting?.reason)).toEqual(Array(FAILURES).fill('endpoint_paused'));
    await world.clock.advance(MINUTE_MS);
    expect((await list()).map(({ waiting }) => waiting)).toEqual(Array(FAILURES).fill(null));
  });

  it('waits for the release of a hold on its endpoint or on all webhooks, which is named', async () => {
    const { id, workspace_id, key_id, send, list } = await home();
    await send();
    const actor = { kind: 'key', workspace_id, key_id, scopes: ['operator'], mode: 'live', domains: null } as const;
    const operator = createContext(world.services, actor, { via: 'rest' });
    const hold = (scope: string, value: string) => invoke(operator, createHold, { scope, value, reason: 'An outage' });

    const queue_hold = await hold('queue', 'webhook.deliver');
    expect((await list())[0]?.waiting).toMatchObject({ reason: 'queue_paused', hold_id: queue_hold.id });
    const own_hold = await hold('webhook', id);
    const [held] = await list();

    expect(held?.waiting).toEqual({ reason: 'hold', until: own_hold.expires_at, hold_id: own_hold.id });
    for (const hold_id of [queue_hold.id, own_hold.id]) await invoke(operator, releaseHold, { hold_id });
    expect((await list())[0]?.waiting).toBe(null);
  });

  it('waits without an end for the release of an instance hold, as its email does', async () => {
    const { ctx, workspace_id, key_id, send, list } = await home();
    const actor = { kind: 'key', workspace_id, key_id, scopes: ['operator'], mode: 'live', domains: null } as const;
    const operator = createContext(world.services, actor, { via: 'rest' });
    const hold = await invoke(operator, createHold, { scope: 'instance', value: 'all', reason: 'A restore' });

    const { id } = await send();

    expect((await list())[0]?.waiting).toEqual({ reason: 'queue_paused', until: null, hold_id: hold.id });
    const { recipients } = await invoke(ctx, getMessage, { id });
    expect(recipients[0]?.waiting).toMatchObject({
      reason: 'hold',
      until: null,
      hold: { id: hold.id, expires_at: null },
    });
    await invoke(operator, releaseHold, { hold_id: hold.id });
  });

  it('waits for nothing that comes once its endpoint is disabled', async () => {
    const { ctx, id, send, list } = await home();
    await send();

    await invoke(ctx, updateWebhook, { id, status: 'disabled' });

    expect((await list())[0]?.waiting).toEqual({ reason: 'endpoint_disabled', until: null, hold_id: null });
  });
});
