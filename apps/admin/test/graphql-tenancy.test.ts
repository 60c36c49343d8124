import { createContext, invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { addDomain } from '@postrider/core/domains';
import { getMessage } from '@postrider/core/messages';
import { createSuppressions } from '@postrider/core/suppressions';
import { createWebhook, testWebhook } from '@postrider/core/webhooks';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { openGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);
let stranger: string;
let owned: Record<
  'message' | 'recipient' | 'event' | 'domain' | 'key' | 'suppression' | 'webhook' | 'delivery',
  string
>;
beforeAll(async () => {
  stranger = (await world.workspace('free')).secret;
  const ctx = createContext(world.services, { kind: 'system', workspace_id: world.workspace_id });
  const message = await invoke(ctx, sendMessage, {
    from: 'shop@sandbox.test',
    to: 'ada@example.com',
    subject: 'Ours',
    text: 'Hi',
  });
  const { recipients, events } = await invoke(ctx, getMessage, { id: message.id });
  const domain = await invoke(ctx, addDomain, { name: 'ours.example.com' });
  const suppression = await invoke(ctx, createSuppressions, { email: 'gone@example.com' });
  const webhook = await invoke(ctx, createWebhook, { url: 'http://127.0.0.1/hook' });
  const delivery = await invoke(ctx, testWebhook, { id: webhook.id });
  owned = {
    message: message.id,
    recipient: recipients[0]?.id ?? '',
    event: events[0]?.id ?? '',
    domain: domain.id,
    key: (await world.key({ scopes: ['admin'] })).id,
    suppression: 'id' in suppression ? suppression.id : '',
    webhook: webhook.id,
    delivery: delivery.id,
  };
});

const byId = 'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }';

describe('a workspace object', () => {
  it('is found by id in its own workspace, regardless of its type', async () => {
    const response = await graphql.ask(byId, { ids: Object.values(owned) });

    expect(response.errors).toEqual([]);
    expect(response.data).toEqual({
      nodes: [
        { __typename: 'Message', id: owned.message },
        { __typename: 'Recipient', id: owned.recipient },
        { __typename: 'Event', id: owned.event },
        { __typename: 'Domain', id: owned.domain },
        { __typename: 'ApiKey', id: owned.key },
        { __typename: 'Suppression', id: owned.suppression },
        { __typename: 'Webhook', id: owned.webhook },
        { __typename: 'WebhookDelivery', id: owned.delivery },
      ],
    });
  });

  it('is null to another workspace, as if it did not exist', async () => {
    const foreign = await graphql.ask(byId, { ids: Object.values(owned) }, { key: stranger });

    expect(foreign.errors).toEqual([]);
    expect(foreign.data).toEqual({ nodes: Object.values(owned).map(() => null) });
  });

  it('does not appear in any list in another workspace', async () => {
    const response = await graphql.ask(
      `{ messages { nodes { id } } events { nodes { id } } domains { nodes { id } } suppressions { nodes { id } }
         webhooks { nodes { id } } domain(name: "ours.example.com") { id } }`,
      undefined,
      { key: stranger },
    );

    expect(response.data).toEqual({
      messages: { nodes: [] },
      events: { nodes: [] },
      domains: { nodes: [] },
      suppressions: { nodes: [] },
      webhooks: { nodes: [] },
      domain: null,
    });
  });

  it('has cursors that are invalid in every other workspace', async () => {
    const own = await graphql.ask('{ messages { edges { cursor } } }');
    const { cursor } = (own.data as { messages: { edges: { cursor: string }[] } }).messages.edges[0] ?? { cursor: '' };

    const response = await graphql.ask(
      'query ($after: String) { messages(after: $after) { nodes { id } } }',
      { after: cursor },
      { key: stranger },
    );

    expect(response.errors).toMatchObject([{ extensions: { code: 'invalid_request', reason: 'invalid_cursor' } }]);
  });

  it.each([
    ['messageCancel', 'message', 'message_not_found'],
    ['domainVerify', 'domain', 'domain_not_found'],
    ['domainDelete', 'domain', 'domain_not_found'],
    ['apiKeyRevoke', 'key', 'api_key_not_found'],
    ['suppressionRemove', 'suppression', 'suppression_not_found'],
    ['webhookDelete', 'webhook', 'webhook_not_found'],
    ['deliveryReplay', 'delivery', 'delivery_not_found'],
  ] as const)('does not exist for %s in another workspace', async (mutation, kind, reason) => {
    const query = `mutation ($id: ID!) { ${mutation}(input: { id: $id }) { ... on NotFoundError { code reason } } }`;

    const foreign = await graphql.ask(query, { id: owned[kind] }, { key: stranger });
    const absent = await graphql.ask(query, { id: `${owned[kind].slice(0, 4)}${'0'.repeat(26)}` });

    for (const response of [foreign, absent])
      expect(response.data).toEqual({ [mutation]: { code: 'NOT_FOUND', reason } });
  });
});
