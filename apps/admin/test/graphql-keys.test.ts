import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { listEvents } from '@postrider/core/events';
import { getMessage } from '@postrider/core/messages';
import { createWebhook } from '@postrider/core/webhooks';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { openGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);

describe('a key', () => {
  it.each([
    ['none', {}, 'missing_key'],
    ['Basic', { authorization: 'Basic YTpi' }, 'malformed_key'],
    ['an unknown one', { authorization: `Bearer pr_live_${'0'.repeat(64)}` }, 'unknown_key'],
    ['a cookie', { cookie: 'sid=abc' }, 'missing_key'],
  ])('is required before any data is read: %s', async (_, headers, reason) => {
    const response = await graphql.ask('{ nonsense', undefined, { key: null, headers });

    expect(response.status).toBe(401);
    expect(response.errors).toMatchObject([
      { extensions: { code: 'unauthorized', reason, requestId: response.headers.get('x-request-id') } },
    ]);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(response.headers.get('x-ratelimit-limit')).toBe('120');
  });

  it('needs the admin or operator scope', async () => {
    const { secret } = await world.key({ scopes: ['email:logs:read'] });

    const response = await graphql.ask('{ __typename }', undefined, { key: secret });

    expect(response.status).toBe(403);
    expect(response.errors).toMatchObject([
      { extensions: { code: 'forbidden', reason: 'missing_scope', requiredScope: 'admin' } },
    ]);
  });

  it('is rejected from the next request onward once it is revoked', async () => {
    const key = await world.key({ scopes: ['admin'] });
    const before = await graphql.ask('{ __typename }', undefined, { key: key.secret });

    await world.services.sql`update api_keys set revoked_at = clock_now() where id = ${key.id}`;
    const after = await graphql.ask('{ __typename }', undefined, { key: key.secret });

    expect(before.data).toEqual({ __typename: 'Query' });
    expect(after.errors).toMatchObject([{ extensions: { reason: 'revoked_key' } }]);
  });

  it("cannot read a workspace's email with only the operator scope", async () => {
    const { secret } = await world.key({ scopes: ['operator'] });

    const response = await graphql.ask('{ messages { nodes { id } } }', undefined, { key: secret });

    expect(response.status).toBe(200);
    expect(response.data).toBeNull();
    expect(response.errors).toMatchObject([
      { path: ['messages'], extensions: { reason: 'missing_scope', requiredScope: 'email:logs:read' } },
    ]);
  });
});

describe('a sandbox key with the admin scope', () => {
  it('cannot find live objects by id through any field', async () => {
    const ctx = world.as(world.workspace_id);
    const mail = { from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Live', text: 'Hi' };
    const { id } = await invoke(ctx, sendMessage, mail);
    const { recipients } = await invoke(ctx, getMessage, { id });
    const [event] = (await invoke(ctx, listEvents, { email_id: id })).data;
    const live = await world.key({ scopes: ['email:send'] });
    const hook = await invoke(ctx, createWebhook, { url: 'https://hooks.example.com/live', events: 'all' });
    const { secret: key } = await world.key({ scopes: ['admin'], mode: 'sandbox' });
    const query = `query ($mail: ID!, $recipient: ID!, $event: ID!, $key: ID!, $hook: ID!) {
      mail: node(id: $mail) { id } recipient: node(id: $recipient) { id } event: node(id: $event) { id }
      key: node(id: $key) { id } hook: node(id: $hook) { id }
      messages(first: 5) { nodes { id } } events(first: 5) { nodes { id } } webhooks(first: 5) { nodes { id } }
    }`;
    const ids = { mail: id, recipient: recipients[0]?.id, event: event?.id, key: live.id, hook: hook.id };

    const response = await graphql.ask(query, ids);
    const sandbox = await graphql.ask(query, ids, { key });
    const suppressions = await graphql.ask('{ suppressions(first: 1) { nodes { id } } }', {}, { key });

    expect(response.data).toMatchObject({
      mail: { id },
      event: { id: event?.id },
      key: { id: live.id },
      hook: { id: hook.id },
    });
    expect(sandbox).toMatchObject({
      errors: [],
      data: {
        ...{ mail: null, recipient: null, event: null, key: null, hook: null },
        ...{ messages: { nodes: [] }, events: { nodes: [] }, webhooks: { nodes: [] } },
      },
    });
    expect(suppressions.errors).toMatchObject([{ extensions: { reason: 'missing_scope' } }]);
  });
});
