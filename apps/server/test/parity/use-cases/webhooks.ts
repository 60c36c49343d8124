import { invoke } from '@postrider/core';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  getWebhookDelivery,
  listAllDeliveries,
  listWebhookDeliveries,
  listWebhooks,
  readWebhookQuality,
  recoverWebhook,
  replayWebhookDelivery,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from '@postrider/core/webhooks';
import type { World } from '@postrider/testing';
import * as shapes from '../shapes.ts';
import {
  absent,
  camelFields,
  connection,
  listOf,
  mutation,
  pageOf,
  type Setup,
  type UseCase,
  useCase,
} from '../use-case.ts';
import { hoursAhead, node, several, withInput } from './setup.ts';

const aWebhook: UseCase['given'] = async (world, workspace_id, number) => {
  const { id } = await invoke(world.as(workspace_id), createWebhook, { url: `http://127.0.0.1/nr${number}` });
  return { input: { id } };
};

async function tested(world: World, workspace_id: string, number: number): Promise<Setup> {
  const { input } = await aWebhook(world, workspace_id, number);
  const { id: delivery_id } = await invoke(world.as(workspace_id), testWebhook, input);
  return { input: { ...input, delivery_id } };
}

export const webhooks = [
  useCase(listWebhooks, {
    rest: 'GET /webhooks',
    trpc: 'GET webhooks.list',
    graphql: connection('webhooks', shapes.webhook),
    given: (world, workspace_id, number) => several(() => aWebhook(world, workspace_id, number)),
    paged: true,
    bad: { limit: 0 },
  }),
  useCase(getWebhook, {
    rest: 'GET /webhooks/{id}',
    trpc: 'GET webhooks.get',
    graphql: node('Webhook', shapes.webhook),
    given: aWebhook,
    target: 'id',
    looks_up: true,
  }),
  useCase(readWebhookQuality, {
    rest: absent('A program computes it from the deliveries it needs.'),
    trpc: 'GET webhooks.quality',
    graphql: {
      field: 'node',
      document: `query ($id: ID!) { value: node(id: $id) { ... on Webhook {
        quality { attempts success_rate: successRate p95_ms: p95Ms is_limited: isLimited } } } }`,
      variables: ({ input }) => ({ id: (input.ids as string[])[0] }),
      // A neighbor gets no node.
      value: (response) => [(response as { quality: unknown } | null)?.quality ?? null],
    },
    async given(world, workspace_id, number) {
      const { input } = await aWebhook(world, workspace_id, number);
      await invoke(world.as(workspace_id), testWebhook, input);
      return { input: { ids: [input.id] } };
    },
  }),
  useCase(createWebhook, {
    rest: 'POST /webhooks',
    trpc: 'POST webhooks.create',
    graphql: mutation(
      'webhookCreate',
      'WebhookInput',
      'WebhookCreatePayload',
      `of: webhook { ${shapes.webhook} } secret`,
      ({ input }) => ({ ...camelFields(input), format: String(input.format).toUpperCase() }),
    ),
    given: withInput({
      url: 'http://127.0.0.1/made',
      events: ['email.bounced'],
      description: 'Shop',
      format: 'resend',
    }),
    writes: true,
    varying: ['secret_last4'],
    bad: { events: ['email.vanished'] },
  }),
  useCase(updateWebhook, {
    rest: 'PATCH /webhooks/{id}',
    trpc: 'POST webhooks.update',
    graphql: mutation('webhookUpdate', 'WebhookUpdateInput', 'WebhookPayload', `of: webhook { ${shapes.webhook} }`),
    async given(world, workspace_id, number) {
      const { input } = await aWebhook(world, workspace_id, number);
      return { input: { ...input, events: ['email.bounced'], description: 'Shop' } };
    },
    target: 'id',
    writes: true,
    varying: ['secret_last4'],
    bad: { url: 'ftp://example.com' },
  }),
  useCase(deleteWebhook, {
    rest: 'DELETE /webhooks/{id}',
    trpc: 'POST webhooks.delete',
    graphql: mutation('webhookDelete', 'TargetInput', 'DeletePayload', 'id: deletedId'),
    given: aWebhook,
    target: 'id',
    writes: true,
  }),
  useCase(testWebhook, {
    rest: 'POST /webhooks/{id}/test',
    trpc: 'POST webhooks.test',
    graphql: mutation('webhookTest', 'WebhookTestInput', 'DeliveryPayload', `of: delivery { ${shapes.delivery} }`),
    async given(world, workspace_id, number) {
      const { input } = await aWebhook(world, workspace_id, number);
      return { input: { ...input, type: 'email.bounced' } };
    },
    target: 'id',
    writes: true,
    bad: { type: 'email.vanished' },
  }),
  useCase(rotateWebhookSecret, {
    rest: 'POST /webhooks/{id}/rotate-secret',
    trpc: 'POST webhooks.rotateSecret',
    graphql: mutation(
      'webhookSecretRotate',
      'RotateInput',
      'WebhookCreatePayload',
      `of: webhook { ${shapes.webhook} } secret`,
    ),
    given: aWebhook,
    target: 'id',
    writes: true,
    varying: ['secret_last4'],
  }),
  useCase(listWebhookDeliveries, {
    rest: 'GET /webhooks/{id}/deliveries',
    trpc: 'GET deliveries.list',
    graphql: {
      field: 'node',
      document: `query ($id: ID!, $first: Int, $after: String, $filter: DeliveryFilter) { value: node(id: $id) {
        ... on Webhook { deliveries(first: $first, after: $after, filter: $filter) { ${pageOf(shapes.delivery)} } } } }`,
      variables: ({ input }) => ({
        id: input.id,
        first: input.limit,
        after: input.cursor,
        filter: { status: [String(input.status).toUpperCase()] },
      }),
      value: (response) => response && listOf((response as { deliveries: unknown }).deliveries),
    },
    async given(world, workspace_id, number) {
      const { input } = await aWebhook(world, workspace_id, number);
      return several(() => invoke(world.as(workspace_id), testWebhook, input), { ...input, status: 'pending' });
    },
    target: 'id',
    looks_up: true,
    paged: true,
    bad: { limit: 0 },
  }),
  useCase(listAllDeliveries, {
    rest: absent('A program asks webhook by webhook.'),
    trpc: 'GET deliveries.listAll',
    graphql: connection('webhookDeliveries', shapes.delivery, { filter: 'DeliveryFilter' }, ({ input }) => ({
      filter: { webhookId: input.webhook_id, eventTypes: [input.type] },
    })),
    async given(world, workspace_id, number) {
      const { input } = await aWebhook(world, workspace_id, number);
      return several(() => invoke(world.as(workspace_id), testWebhook, { ...input, type: 'email.bounced' }), {
        webhook_id: input.id,
        type: 'email.bounced',
      });
    },
    target: 'webhook_id',
    paged: true,
    bad: { type: 'email.vanished' },
  }),
  useCase(getWebhookDelivery, {
    rest: 'GET /webhooks/{id}/deliveries/{delivery_id}',
    trpc: 'GET deliveries.get',
    graphql: node(
      'WebhookDelivery',
      `${shapes.delivery} requestBody posts: attempts { number at durationMs requestHeaders responseStatus
       responseHeaders responseBody error }`,
      ({ input }) => input.delivery_id,
    ),
    given: tested,
    target: 'delivery_id',
    looks_up: true,
  }),
  useCase(replayWebhookDelivery, {
    rest: 'POST /webhooks/{id}/deliveries/{delivery_id}/replay',
    trpc: 'POST deliveries.replay',
    graphql: mutation(
      'deliveryReplay',
      'TargetInput',
      'DeliveryPayload',
      `of: delivery { ${shapes.delivery} }`,
      ({ input }) => ({ id: input.delivery_id }),
    ),
    given: tested,
    target: 'delivery_id',
    // GraphQL takes no webhook ID, and another workspace's delivery is rejected before this check.
    foreign: false,
    writes: true,
  }),
  useCase(recoverWebhook, {
    rest: 'POST /webhooks/{id}/recover',
    trpc: 'POST webhooks.recover',
    graphql: mutation('webhookRecover', 'RecoverInput', 'WebhookPayload', 'of: webhook { webhook_id: id }'),
    async given(world, workspace_id, number) {
      const { input } = await aWebhook(world, workspace_id, number);
      return { input: { ...input, since: hoursAhead(world, -1) } };
    },
    target: 'id',
    writes: true,
    bad: { since: 'yesterday' },
  }),
];
