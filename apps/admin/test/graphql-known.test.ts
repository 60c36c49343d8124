import { createContext, invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { type GraphqlResponse, openGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);
let id: string;
beforeAll(async () => {
  const ctx = createContext(world.services, { kind: 'system', workspace_id: world.workspace_id });
  const mail = { from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Hi', text: 'Hi', tags: ['a'] };
  for (let count = 0; count < 3; count++) id = (await invoke(ctx, sendMessage, mail)).id;
  await world.drain();
});

/** Returns a response without the parts that differ between requests. */
function comparable({ status, text, headers }: GraphqlResponse) {
  const names = [...headers.keys()].filter((name) => !['date', 'connection', 'keep-alive'].includes(name)).sort();
  const body = text
    .replaceAll(/req_\w+/g, 'req')
    .replace(/"remaining":\d+,"resetAt":"[^"]+"/, '')
    .replace(/,?"stacktrace".*/, '');
  return { status, body, names, type: headers.get('content-type') };
}

describe('a repeated query', () => {
  it.each([
    [
      'with nested pages',
      '{ messages(first: 2) { nodes { id status tags metadata timeline(first: 3) { nodes { type at } } } } }',
    ],
    [
      'with aliases and fragments that overlap',
      `{ a: messages(first: 1) { nodes { x: id ...f } pageInfo { hasNextPage endCursor } } b: messages { edges { cursor node { id } } } }
       fragment f on Message { recipients { nodes { address } } ... on Message { recipients { nodes { status kind } } } ... on Node { id } }`,
    ],
    ['with __typename', '{ __typename messages(first: 1) { __typename nodes { __typename id } } }'],
    [
      'with nulls',
      '{ messages(first: 1) { nodes { replyTo scheduledAt resendOf { id } lastEvent { type message { subject } } } } }',
    ],
    ['that skips', '{ messages(first: 1) { nodes { id subject @skip(if: true) } } }'],
    ['of which a nullable field fails', '{ usage { limit } messages(first: 0) { nodes { id } } }'],
    ['whose field for operators is refused', '{ usage { limit } queues { name } }'],
    ['with an alias for a prototype', '{ __proto__: usage { limit } }'],
  ])('%s returns the same response as the first time', async (_, query) => {
    const first = await graphql.ask(query);
    const second = await graphql.ask(query);

    expect(comparable(second)).toEqual(comparable(first));
  });

  it('reads its variables each time, and is rejected if they are invalid', async () => {
    const query =
      'query q($first: Int!, $status: [MessageStatus!]) { messages(first: $first, filter: { status: $status }) { nodes { id } } }';
    await graphql.ask(query, { first: 1 });

    const two = await graphql.ask(query, { first: 2 });
    const none = await graphql.ask(query, { first: 2, status: ['FAILED'] });
    const wrong = await graphql.ask(query, { first: 'x' });
    const expensive = await graphql.ask(query, { first: 2_000_000 });

    expect(two.data).toMatchObject({ messages: { nodes: [{ id }, {}] } });
    expect(none.data).toEqual({ messages: { nodes: [] } });
    expect([wrong.status, wrong.errors[0]?.extensions.reason]).toEqual([400, 'invalid_query']);
    expect([expensive.status, expensive.errors[0]?.extensions.reason]).toEqual([400, 'query_too_complex']);
  });

  it('needs a key, and is charged to the key that sends it', async () => {
    const query = '{ messages(first: 100) { nodes { id } } }';
    const { secret } = await world.key({ scopes: ['admin'] });
    await graphql.ask(query, undefined, { key: secret });

    const second = await graphql.ask(query, undefined, { key: secret });
    const stranger = await graphql.ask(query, undefined, { key: `pr_live_${'0'.repeat(64)}` });
    const anonymous = await graphql.ask(query, undefined, { key: null });
    const sender = await graphql.ask(query, undefined, { key: (await world.key({ scopes: ['email:send'] })).secret });

    expect(second.extensions.cost).toMatchObject({ requested: 101, actual: 4 });
    expect([stranger.status, anonymous.status, sender.status]).toEqual([401, 401, 403]);
    expect(stranger.headers.get('www-authenticate')).toBe('Bearer realm="postrider"');
  });
});

it('messages show the same fields whether or not their recipients are requested', async () => {
  const ctx = createContext(world.services, { kind: 'system', workspace_id: world.workspace_id });
  const mail = { from: 'shop@sandbox.test', subject: 'Hi', text: 'Hi' };
  const waits = await invoke(ctx, sendMessage, { ...mail, to: 'eve@example.com' });
  await world.services.sql`
    update recipients set state = 'sending', first_attempt_at = clock_now() where message_id = ${waits.id}`;
  const own = 'id status sentAt deliveredAt to timeline { nodes { type } }';

  const single = await graphql.ask(`{ messages { nodes { ${own} } } }`);
  const full = await graphql.ask(`{ messages { nodes { ${own} recipientCounts { count } } } }`);

  const { nodes } = (single.data as { messages: { nodes: { status: string }[] } }).messages;
  expect(nodes.map(({ status }) => status)).toEqual(['SENDING', 'DELIVERED', 'DELIVERED', 'DELIVERED']);
  expect(nodes[0]).toMatchObject({ sentAt: expect.any(String) });
  const expected_nodes = nodes.map((node) => ({ ...node, recipientCounts: [{ count: 1 }] }));
  expect(full.data).toEqual({ messages: { nodes: expected_nodes } });
});
