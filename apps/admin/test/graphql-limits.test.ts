import { createContext, invoke, newId } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { openGraphql, startGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);

const aliases = (count: number, field: string) =>
  Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ');
const nested = (depth: number) =>
  `{ messages(first: 1) { nodes { ${'resendOf { '.repeat(depth - 3)} id ${'} '.repeat(depth - 3)} } } }`;

describe('a document', () => {
  it.each([
    ['13 deep', nested(13)],
    ['with 21 aliases', `{ ${aliases(21, 'usage { month }')} }`],
    ['with 500 aliased mutations', `mutation { ${aliases(500, 'messageCancel(input: { id: "x" }) { __typename }')} }`],
    ['of 1,500 tokens', `{ usage { ${'month '.repeat(1500)} } }`],
    ['with 21 directives', `{ usage ${'@include(if: true) '.repeat(21)} { month } }`],
    ['of more than 2,000 points', '{ messages(first: 100) { nodes { timeline(first: 20) { nodes { id } } } } }'],
    ['that asks for a page of a million', '{ messages(first: 1000000) { nodes { id } } }'],
    ['that looks for 101 ids', `{ nodes(ids: [${'"msg_x" '.repeat(101)}]) { id } }`],
    ['of more than 200 fields', `{ usage { ${'month '.repeat(201)} } }`],
    [
      'whose fragments multiply',
      `{ usage { ...a } } fragment a on Usage { ${'...b '.repeat(15)} } fragment b on Usage { ${'...c '.repeat(15)} } fragment c on Usage { month }`,
    ],
  ])('%s is rejected before any of it runs', async (_, query) => {
    const response = await graphql.ask(query);

    expect(response.status).toBe(400);
    expect(response.data).toBeUndefined();
    expect(response.errors).toMatchObject([
      {
        extensions: {
          code: 'invalid_request',
          reason: 'query_too_complex',
          requestId: response.headers.get('x-request-id'),
        },
      },
    ]);
  });

  it('is executed if it is 12 levels deep, has 20 aliases or costs nearly 2,000 points', async () => {
    for (const query of [
      nested(12),
      `{ ${aliases(20, 'usage { month }')} }`,
      '{ messages(first: 100) { nodes { timeline(first: 17) { nodes { id } } } } }',
    ]) {
      const response = await graphql.ask(query);

      expect(response.errors).toEqual([]);
      expect(response.status).toBe(200);
    }
  });

  it.each([
    ['does not parse', '{ usage {'],
    ['names an unknown field', '{ usage { moth } }'],
    ['lacks a variable', 'query ($id: ID!) { node(id: $id) { id } }'],
    ['names an unknown status', '{ messages(filter: { status: [SENT] }) { nodes { id } } }'],
    ['gives a number for a time', '{ messages(filter: { since: 5 }) { nodes { id } } }'],
  ])('is rejected as an invalid query if it %s', async (_, query) => {
    const response = await graphql.ask(query);

    expect(response.status).toBe(400);
    expect(response.errors).toMatchObject([{ extensions: { code: 'invalid_request', reason: 'invalid_query' } }]);
  });

  it('is rejected entirely for an unreadable argument, and no part of it runs for free', async () => {
    const expensive = 'messages(first: 100) { nodes { timeline(first: 100) { nodes { id } } } }';
    const skipped = `query ($id: ID = "x") { bad: node(id: $id) @skip(if: true) { id } ${expensive} }`;
    const dropped = `query ($id: ID = "x") { bad: node(id: $id) { id } ${expensive} }`;
    const many = `query ($ids: [ID!] = []) { bad: nodes(ids: $ids) { id } ${expensive} }`;

    for (const query of [skipped, dropped, many]) {
      const response = await graphql.ask(query, { id: null, ids: null });

      expect(response.status).toBe(400);
      expect(response.data).toBeUndefined();
      expect(response.errors).toMatchObject([{ extensions: { code: 'invalid_request' } }]);
    }
  });

  it('is rejected if its first operation is invalid, even if the request selects another one', async () => {
    const query = `query cheap { usage { month } }
      query dear { messages(first: 100) { nodes { timeline(first: 100) { nodes { id } } } } }`;

    const response = await fetch(graphql.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${world.secret}` },
      body: JSON.stringify({ query, operationName: 'dear' }),
    });

    expect(response.status).toBe(400);
    expect(await response.text()).toContain('query_too_complex');
  });
});

describe('a request', () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(graphql.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${world.secret}`, ...headers },
      body,
    });

  it.each([
    ['with several operations in an array', () => post(JSON.stringify([{ query: '{ usage { month } }' }])), 400],
    [
      'with a body of more than 100 kB',
      () => post(JSON.stringify({ query: `{ usage { month } }${' '.repeat(102_400)}` })),
      400,
    ],
    ['that is not JSON', () => post('{'), 400],
    ['of another media type', () => post('{ usage { month } }', { 'content-type': 'text/plain' }), 400],
    [
      'that changes something by GET',
      () =>
        fetch(
          `${graphql.url}?query=${encodeURIComponent('mutation { messageCancel(input: { id: "x" }) { __typename } }')}`,
          {
            headers: { authorization: `Bearer ${world.secret}` },
          },
        ),
      405,
    ],
  ])('%s is rejected in the standard error format', async (_, send, status) => {
    const response = await send();

    expect(response.status).toBe(status);
    const { errors } = (await response.json()) as { errors: { extensions: Record<string, unknown> }[] };
    expect(errors).toMatchObject([
      { extensions: { code: 'invalid_request', requestId: response.headers.get('x-request-id') } },
    ]);
  });

  it('is executed over GET if it only reads', async () => {
    const response = await fetch(`${graphql.url}?query=${encodeURIComponent('{ usage { limit } }')}`, {
      headers: { authorization: `Bearer ${world.secret}` },
    });

    expect(await response.json()).toMatchObject({ data: { usage: { limit: null } } });
  });
});

describe("a key's budget", () => {
  const expensive = '{ messages(first: 100) { nodes { timeline(first: 17) { nodes { id } } } } }';
  const costOf = (response: { extensions: Readonly<Record<string, unknown>> }) =>
    response.extensions.cost as {
      requested: number;
      actual: number;
      limit: number;
      remaining: number;
      resetAt: string;
    };

  it('is reported in every response, in extensions and headers', async () => {
    await world.clock.freeze(new Date('2030-01-01T00:00:00Z'));
    const { secret } = await world.key({ scopes: ['admin'] });

    const response = await graphql.ask('{ messages(first: 50) { nodes { id } } }', undefined, { key: secret });

    expect(costOf(response)).toEqual({
      requested: 51,
      actual: 1,
      limit: 12_000,
      remaining: 11_999,
      resetAt: expect.stringMatching(/^2030-01-01T00:00:00/),
    });
    expect(response.headers.get('x-ratelimit-limit')).toBe('12000');
    expect(response.headers.get('x-ratelimit-remaining')).toBe('11999');
    expect(Number(response.headers.get('x-ratelimit-reset'))).toBeGreaterThan(1893456000 - 1);
  });

  it('is charged for every requested id, whether or not it exists, and for attempt searches', async () => {
    const now = world.clock.now();
    const some = (kind: 'message' | 'attempt', count: number) =>
      Array.from({ length: count }, (_, index) => newId(kind, now + index));
    const nodes = 'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename } }';
    const node = 'query ($id: ID!) { node(id: $id) { __typename } }';

    const prices = [];
    for (const variables of [
      { ids: some('message', 100) },
      { ids: some('attempt', 100) },
      { ids: [...some('attempt', 1), ...some('message', 1)] },
      { id: newId('message', now) },
      { id: newId('attempt', now) },
    ])
      prices.push(costOf(await graphql.ask('ids' in variables ? nodes : node, variables)).requested);
    const response = await graphql.ask(nodes, { ids: some('message', 2500) });

    expect(prices).toEqual([100, 200, 102, 1, 101]);
    expect(response.status).toBe(400);
    expect(response.errors).toMatchObject([{ extensions: { reason: 'query_too_complex' } }]);
  });

  it('can be queried in a document', async () => {
    const response = await graphql.ask('{ viewer { rateLimit { cost limit restorePerSecond } } }');

    expect(response.data).toEqual({ viewer: { rateLimit: { cost: 2, limit: 12_000, restorePerSecond: 200 } } });
  });

  it('is exact under concurrent requests to two processes, and refills by 200 points per second', async () => {
    await world.clock.freeze(new Date('2030-01-01T00:01:00Z'));
    const { secret } = await world.key({ scopes: ['operator'] });
    const second_server = await startGraphql(await world.peer(), world.secret);

    // The key lacks the scope for messages, so nothing is read or refunded. Each request costs 101 points.
    const query = '{ messages(first: 100) { nodes { id } } }';
    const responses = await Promise.all(
      Array.from({ length: 150 }, (_, index) =>
        (index % 2 ? graphql : second_server).ask(query, undefined, { key: secret }),
      ),
    );
    const rejected = responses.filter((response) => response.status === 429);
    await world.clock.advance(1000);
    const next = await graphql.ask(query, undefined, { key: secret });

    expect(responses.filter((response) => response.status === 200)).toHaveLength(118);
    expect(rejected).toHaveLength(32);
    for (const response of rejected) {
      expect(response.errors).toMatchObject([{ extensions: { code: 'rate_limited', reason: 'graphql_cost' } }]);
      expect(Number(response.headers.get('retry-after'))).toBe(1);
    }
    expect(next.status).toBe(200);
    await second_server.stop();
  });

  it('gets a refund for entries missing from pages', async () => {
    await world.clock.freeze(new Date('2030-01-01T00:02:00Z'));
    const { secret } = await world.key({ scopes: ['admin'] });

    for (let count = 0; count < 12; count++) {
      const response = await graphql.ask(expensive, undefined, { key: secret });

      expect(costOf(response)).toMatchObject({ requested: 1901, actual: 1 });
      await expect.poll(async () => (await levelOf(secret)) < 50).toBe(true);
    }
  });

  it('gets a refund for a page whose arguments are rejected', async () => {
    await world.clock.freeze(new Date('2030-01-01T00:02:30Z'));
    const { secret } = await world.key({ scopes: ['admin'] });

    for (const [args, reason] of [
      ['first: 500', 'invalid_limit'],
      ['first: 500, after: "x"', 'invalid_limit'],
      ['first: 100, after: "x"', 'invalid_cursor'],
    ]) {
      const response = await graphql.ask(`{ messages(${args}) { nodes { id } } usage { month } }`, undefined, {
        key: secret,
      });

      expect(response.errors).toMatchObject([{ extensions: { reason } }]);
      const { requested, actual } = costOf(response);
      expect({ requested, actual }).toEqual({ requested: args?.includes('500') ? 502 : 102, actual: 2 });
    }
    await expect.poll(async () => (await levelOf(secret)) < 10).toBe(true);
  });

  it('reports when to retry once it is exhausted', async () => {
    await world.clock.freeze(new Date('2030-01-01T00:03:00Z'));
    const { id, secret } = await world.key({ scopes: ['admin'] });
    await world.services.sql`
      insert into query_budgets (key_id, level, taken, at) values (${id}, 12000, true, clock_now())`;

    const response = await graphql.ask('{ usage { month } }', undefined, { key: secret });

    expect(response.status).toBe(429);
    expect(response.errors).toMatchObject([{ extensions: { reason: 'graphql_cost' } }]);
    expect(response.headers.get('retry-after')).toBe('1');
  });

  it('is also reported to a key without the scope', async () => {
    const { secret } = await world.key({ scopes: ['email:send'] });

    const response = await graphql.ask('{ usage { month } }', undefined, { key: secret });

    expect(response.status).toBe(403);
    expect(response.headers.get('x-ratelimit-limit')).toBe('12000');
    expect(response.headers.get('x-ratelimit-remaining')).toBe('11999');
  });

  async function levelOf(secret: string): Promise<number> {
    const [row] = await world.services.sql<{ level: number }[]>`
      select b.level from query_budgets b join api_keys k on k.id = b.key_id
      where k.secret_hash = sha256(convert_to(${secret}, 'UTF8'))`;
    return row?.level ?? 0;
  }
});

describe('a response', () => {
  it('stops once its lists contain more than 20,000 entries, even if it is cheap', async () => {
    const ctx = createContext(world.services, { kind: 'system', workspace_id: world.workspace_id });
    const to = Array.from({ length: 40 }, (_, index) => `r${index}@example.com`);
    const mail = { from: 'shop@sandbox.test', to, subject: 'Hi', text: 'Hi' };
    await Promise.all(Array.from({ length: 60 }, () => invoke(ctx, sendMessage, mail)));
    const cursors = (lists: number) =>
      `{ messages(first: 60) { edges { node { ${aliases(lists, 'recipients(first: 40) { edges { cursor } }')} } } } }`;

    const responses = [await graphql.ask(cursors(8)), await graphql.ask(cursors(9))];

    expect(responses[0]?.errors).toEqual([]);
    expect(responses[1]?.data).toBeNull();
    expect(responses[1]?.errors[0]?.extensions).toMatchObject({ code: 'invalid_request', reason: 'query_too_complex' });
  });
});
