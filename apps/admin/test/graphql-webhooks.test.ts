import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { cancelMessage } from '@postrider/core/messages';
import { createWebhook, testWebhook } from '@postrider/core/webhooks';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { openGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);
let shop: string;
let stock: string;
let message: string;
let midpoint: string;
beforeAll(async () => {
  // The clock is frozen so that the two events are exactly one second apart on any machine.
  await world.clock.freeze(new Date(world.clock.now()));
  const ctx = world.as(world.workspace_id);
  shop = (await invoke(ctx, createWebhook, { url: 'http://127.0.0.1/shop' })).id;
  stock = (await invoke(ctx, createWebhook, { url: 'http://127.0.0.1/stock', events: ['email.canceled'] })).id;
  const mail = { from: 'shop@sandbox.test', to: ['ada@example.com'], subject: 'Hello', text: 'Hi' };
  message = (await invoke(ctx, sendMessage, mail)).id;
  await world.clock.advance(1000);
  midpoint = new Date(world.clock.now()).toISOString();
  await world.clock.advance(1000);
  await invoke(ctx, cancelMessage, { id: message });
});

interface Delivery {
  readonly id: string;
  readonly eventType: string;
  readonly webhook: { readonly id: string };
  readonly event: { readonly id: string; readonly deliveries: { readonly id: string }[] };
  readonly requestBody: Readonly<Record<string, unknown>>;
}

interface DeliveryPage {
  readonly webhookDeliveries: { readonly nodes: Delivery[]; readonly pageInfo: { readonly endCursor: string } };
}

async function deliveries(filter: object, first = 20): Promise<readonly Delivery[]> {
  const response = await graphql.ask(
    `query ($filter: DeliveryFilter, $first: Int) { webhookDeliveries(first: $first, filter: $filter) { nodes {
      id eventType webhook { id } event { id deliveries { id } } requestBody } } }`,
    { filter, first },
  );
  expect(response.errors).toEqual([]);
  return (response.data as unknown as DeliveryPage).webhookDeliveries.nodes;
}

describe("a workspace's webhook deliveries", () => {
  it('are listed across all webhooks, newest event first', async () => {
    const entries = await deliveries({});

    expect(entries.map(({ eventType, webhook }) => [eventType, webhook.id]).toSorted()).toEqual(
      [
        ['email.canceled', shop],
        ['email.canceled', stock],
        ['email.queued', shop],
      ].toSorted(),
    );
    expect(entries.at(-1)?.eventType).toBe('email.queued');
    expect(entries.map(({ id }) => id)).toEqual(
      entries
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
    );
  });

  it('can be filtered by webhook, event type, status and time', async () => {
    const [, , queued] = await deliveries({});

    expect(await deliveries({ webhookId: stock })).toHaveLength(1);
    expect(await deliveries({ eventTypes: ['email.queued'] })).toEqual([queued]);
    expect(await deliveries({ status: ['DELIVERED'] })).toEqual([]);
    expect((await deliveries({ since: midpoint })).map(({ eventType }) => eventType)).toEqual([
      'email.canceled',
      'email.canceled',
    ]);
    expect(await deliveries({ until: midpoint })).toEqual([queued]);
  });

  it('continue after a cursor, which is valid only for the same filter', async () => {
    const page = '{ webhookDeliveries(first: 2) { nodes { id } pageInfo { endCursor } } }';
    const { webhookDeliveries } = (await graphql.ask(page)).data as unknown as DeliveryPage;
    const { endCursor } = webhookDeliveries.pageInfo;
    const next =
      'query ($after: String, $filter: DeliveryFilter) { webhookDeliveries(after: $after, filter: $filter) { nodes { id } } }';

    const second = await graphql.ask(next, { after: endCursor });
    const other = await graphql.ask(next, { after: endCursor, filter: { webhookId: shop } });

    expect((second.data as unknown as DeliveryPage).webhookDeliveries.nodes).toHaveLength(1);
    expect(other.errors).toMatchObject([{ extensions: { reason: 'invalid_cursor' } }]);
  });

  it('are rejected for an unknown webhook or event type in the filter', async () => {
    const ask = (filter: object) =>
      graphql.ask('query ($filter: DeliveryFilter) { webhookDeliveries(filter: $filter) { nodes { id } } }', {
        filter,
      });

    expect((await ask({ webhookId: `whk_${'0'.repeat(26)}` })).errors).toMatchObject([
      { extensions: { code: 'not_found', reason: 'webhook_not_found' } },
    ]);
    expect((await ask({ eventTypes: ['email.vanished'] })).errors).toMatchObject([
      { extensions: { code: 'invalid_request', reason: 'invalid_type' } },
    ]);
  });

  it('match every part of the filter', async () => {
    const ask = async (webhookId: string) => {
      const { data } = await graphql.ask(
        `query ($id: ID!, $filter: DeliveryFilter) { node(id: $id) { ... on Webhook {
          deliveries(filter: $filter) { nodes { eventType } pageInfo { hasNextPage endCursor } } } } }`,
        { id: shop, filter: { webhookId, eventTypes: ['email.queued'] } },
      );
      return (data as unknown as { node: { deliveries: unknown } }).node.deliveries;
    };

    expect(await ask(shop)).toMatchObject({ nodes: [{ eventType: 'email.queued' }] });
    expect(await ask(stock)).toEqual({ nodes: [], pageInfo: { hasNextPage: false, endCursor: null } });
  });
});

it('an event lists its deliveries, and a delivery shows its payload', async () => {
  const entries = await deliveries({});

  for (const { id, event, requestBody } of entries) {
    expect(event.deliveries.map((one) => one.id)).toContain(id);
    expect(requestBody).toMatchObject({ id: event.id, data: { email: { id: message } } });
  }
  const canceled = entries.find(({ eventType }) => eventType === 'email.canceled');
  expect(canceled?.event.deliveries).toHaveLength(2);
});

it('a test delivery posts the example payload', async () => {
  const { id } = await invoke(world.as(world.workspace_id), testWebhook, { id: shop, type: 'email.bounced' });

  const { data } = await graphql.ask('query ($id: ID!) { node(id: $id) { ... on WebhookDelivery { requestBody } } }', {
    id,
  });

  expect(data).toMatchObject({ node: { requestBody: { type: 'email.bounced', data: { test: true } } } });
});

it('a sandbox key sees and creates only sandbox endpoints and deliveries', async () => {
  const { secret: key } = await world.key({ scopes: ['admin'], mode: 'sandbox' });
  const create = (input: object) =>
    graphql.ask(
      `mutation ($input: WebhookInput!) { webhookCreate(input: $input) {
        ... on WebhookCreatePayload { webhook { id mode } } ... on ApiError { code reason } } }`,
      { input: { url: 'http://127.0.0.1/tests', ...input } },
      { key },
    );
  const [live] = await deliveries({ webhookId: stock });
  const event = live?.event.id;

  const response = await create({ mode: 'LIVE' });
  const sample_webhook = await create({});
  const { data } = await graphql.ask(
    `query ($ids: [ID!]!) { webhooks { nodes { id } } webhookDeliveries { nodes { id } } nodes(ids: $ids) { __typename } }`,
    { ids: [shop, live?.id, event] },
    { key },
  );

  expect(response.data).toMatchObject({ webhookCreate: { reason: 'missing_scope' } });
  expect(sample_webhook.data).toMatchObject({ webhookCreate: { webhook: { mode: 'SANDBOX' } } });
  const { webhook } = (sample_webhook.data as unknown as { webhookCreate: { webhook: { id: string } } }).webhookCreate;
  expect(data).toEqual({
    webhooks: { nodes: [{ id: webhook.id }] },
    webhookDeliveries: { nodes: [] },
    nodes: [null, null, null],
  });
});
