import { createContext, invoke, newId } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { cancelMessage, readMessages } from '@postrider/core/messages';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { openGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);
let ids: string[];
let other: { workspace_id: string; secret: string };
beforeAll(async () => {
  other = await world.workspace('free');
  ids = [];
  for (const subject of ['One', 'Two', 'Three']) ids.unshift(await send(world.workspace_id, subject));
});

async function send(workspace_id: string, subject: string): Promise<string> {
  const sent = await invoke(createContext(world.services, { kind: 'system', workspace_id }), sendMessage, {
    from: 'Shop <shop@sandbox.test>',
    to: 'ada@example.com',
    subject,
    text: 'Hi',
  });
  return sent.id;
}

describe('messages', () => {
  it('are paged newest first, with the same cursors as in the REST API', async () => {
    const query = `query ($after: String) {
      messages(first: 2, after: $after) {
        edges { cursor node { id } } nodes { subject }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }`;

    const first = await graphql.ask(query);
    const { endCursor } = (first.data as { messages: { pageInfo: { endCursor: string } } }).messages.pageInfo;
    const second = await graphql.ask(query, { after: endCursor });

    expect(first.errors).toEqual([]);
    expect(first.data).toMatchObject({
      messages: {
        edges: [{ node: { id: ids[0] } }, { node: { id: ids[1] } }],
        nodes: [{ subject: 'Three' }, { subject: 'Two' }],
        pageInfo: { hasNextPage: true, hasPreviousPage: false },
      },
    });
    expect(second.data).toMatchObject({
      messages: { edges: [{ node: { id: ids[2] } }], pageInfo: { hasNextPage: false, hasPreviousPage: true } },
    });
  });

  it('are found by id through node, except in another workspace', async () => {
    const query = 'query ($id: ID!) { node(id: $id) { id ... on Message { subject } } }';

    const own = await graphql.ask(query, { id: ids[0] });
    const foreign = await graphql.ask(query, { id: ids[0] }, { key: other.secret });
    const absent = await graphql.ask(query, { id: 'msg_nothing' });
    const nonsense = await graphql.ask(query, { id: 'nonsense' });

    expect(own.data).toEqual({ node: { id: ids[0], subject: 'Three' } });
    for (const response of [foreign, absent, nonsense]) {
      expect(response.errors).toEqual([]);
      expect(response.data).toEqual({ node: null });
    }
  });

  it("reject a page size that is too small, with the core's reason", async () => {
    const response = await graphql.ask('{ messages(first: -1) { nodes { id } } }');

    expect(response.data).toBeNull();
    expect(response.errors).toMatchObject([
      { path: ['messages'], extensions: { code: 'invalid_request', reason: 'invalid_limit' } },
    ]);
    expect(response.errors[0]?.extensions.requestId).toBe(response.headers.get('x-request-id'));
  });

  it('reject invalid arguments by their GraphQL names', async () => {
    const size = await graphql.ask('{ messages(first: 500) { nodes { id } } }');
    const place = await graphql.ask('{ messages(after: "nowhere") { nodes { id } } }');

    const message = 'first must be a whole number from 1 to 100.';
    expect(size.errors).toMatchObject([{ message, extensions: { fields: [{ path: ['first'], message }] } }]);
    expect(place.errors).toMatchObject([
      { message: expect.stringMatching(/^after was not issued/), extensions: { fields: [{ path: ['after'] }] } },
    ]);
  });
});

describe('messageCancel', () => {
  const query = `mutation ($id: ID!) {
    messageCancel(input: { id: $id }) {
      __typename
      ... on MessagePayload { email { id status } }
      ... on ApiError { code reason message docsUrl requestId }
    }
  }`;

  it('returns the message in its new state', async () => {
    const id = await send(world.workspace_id, 'Cancel me');

    const response = await graphql.ask(query, { id });

    expect(response.data).toEqual({
      messageCancel: { __typename: 'MessagePayload', email: { id, status: 'CANCELED' } },
    });
  });

  it('returns a rejection as a member of the result union, with the REST code', async () => {
    const response = await graphql.ask(query, { id: ids[0] }, { key: other.secret });

    expect(response.status).toBe(200);
    expect(response.errors).toEqual([]);
    expect(response.data).toEqual({
      messageCancel: {
        __typename: 'NotFoundError',
        code: 'NOT_FOUND',
        reason: 'message_not_found',
        message: expect.stringContaining(ids[0] ?? ''),
        docsUrl: 'http://localhost:3000/errors/message_not_found',
        requestId: response.headers.get('x-request-id'),
      },
    });
  });
});

describe('a message', () => {
  const ask = async (id: string, selection: string, key?: string) => {
    const response = await graphql.ask(
      `query ($id: ID!) { node(id: $id) { ... on Message { ${selection} } } }`,
      { id },
      key === undefined ? {} : { key },
    );
    expect(response.errors).toEqual([]);
    return response.data?.node;
  };

  it('shows the last event in its log, even if an older event has a greater id', async () => {
    const id = await send(world.workspace_id, 'Skewed');
    const { sql } = world.services;
    await invoke(world.as(world.workspace_id), cancelMessage, { id });
    // The accepting process's clock was ahead of the canceling process's clock.
    const newer_id = newId('event', world.clock.now() + 5000);
    await sql`update events set id = ${newer_id} where message_id = ${id} and type = 'email.queued'`;

    const email = await ask(id, 'status lastEvent { type } finishedAt');

    const [entry] = await invoke(world.as(world.workspace_id), readMessages, { ids: [id] });
    expect(entry?.last_event.type).toBe('email.canceled');
    expect(email).toEqual({
      status: 'CANCELED',
      lastEvent: { type: 'email.canceled' },
      finishedAt: entry?.last_event.at,
    });
  });

  it('shows operators the job it is waiting in, until that job is closed', async () => {
    const id = await send(world.workspace_id, 'Queued');
    const { secret } = await world.key({ scopes: ['admin'] });
    const job = 'job { queue { name } subject { id } } recipients { nodes { job { state } } } finishedAt';

    const open = await ask(id, job);
    const unseen = await ask(id, 'job { id } recipients { nodes { job { id } } }', secret);
    await invoke(world.as(world.workspace_id), cancelMessage, { id });
    const closed = await ask(id, 'job { id } recipients { nodes { job { id } } }');

    expect(open).toEqual({
      job: { queue: { name: 'delivery.attempt' }, subject: { id } },
      recipients: { nodes: [{ job: { state: 'READY' } }] },
      finishedAt: null,
    });
    for (const hidden_node of [unseen, closed])
      expect(hidden_node).toEqual({ job: null, recipients: { nodes: [{ job: null }] } });
  });
});
