import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { openGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);

const dear = 'messages(first: 100) { nodes { id timeline(first: 15) { nodes { id } } } }';

describe('a dry run', () => {
  it('reports only the cost of a request, and costs one point', async () => {
    const dry = await graphql.ask(`{ viewer { scopes rateLimit(dryRun: true) { cost remaining } } ${dear} }`);
    const full_run = await graphql.ask(`{ viewer { scopes rateLimit { cost } } ${dear} }`);

    expect(dry.errors).toEqual([]);
    expect(dry.data).toEqual({ viewer: { rateLimit: { cost: expect.any(Number), remaining: expect.any(Number) } } });
    const cost = (dry.data as { viewer: { rateLimit: { cost: number } } }).viewer.rateLimit.cost;
    expect(full_run.data).toMatchObject({ viewer: { rateLimit: { cost } }, messages: { nodes: [] } });
    expect(dry.extensions.cost).toMatchObject({ requested: 1, actual: 1 });
    expect(full_run.extensions.cost).toMatchObject({ requested: cost });
  });

  it('reports the cost of a request that would be rejected as too expensive', async () => {
    const dearer = 'messages(first: 100) { nodes { timeline(first: 100) { nodes { id } } } }';

    const response = await graphql.ask(`{ viewer { rateLimit(dryRun: true) { cost } } ${dearer} }`);

    expect(response.errors).toEqual([]);
    expect((response.data as { viewer: { rateLimit: { cost: number } } }).viewer.rateLimit.cost).toBeGreaterThan(
      10_000,
    );
  });

  it('uses the variable values of each request', async () => {
    const query = `query ($dry: Boolean!) { viewer { rateLimit(dryRun: $dry) { cost } } usage { month } }`;
    const runs = [];
    for (const dry of [false, true, false, true]) runs.push((await graphql.ask(query, { dry })).data);

    expect(runs.map((data) => Object.keys(data ?? {}))).toEqual([
      ['viewer', 'usage'],
      ['viewer'],
      ['viewer', 'usage'],
      ['viewer'],
    ]);
  });

  it('excludes skipped fields, even inside fragments', async () => {
    const response = await graphql.ask(
      `{ ...a ...b } fragment a on Query { viewer { ...c } } fragment b on Query { usage { month } }
       fragment c on Viewer { rateLimit(dryRun: true) { limit } scopes }`,
    );

    expect(response.errors).toEqual([]);
    expect(response.data).toEqual({ viewer: { rateLimit: { limit: 12_000 } } });
  });

  it('does not let an accompanying mutation or subscription run for free', async () => {
    const asking = 'query Dry { viewer { rateLimit(dryRun: true) { cost } } }';
    const make = `mutation Make { apiKeyCreate(input: { name: "made", scopes: ["email:send"] }) {
      ... on ApiKeyCreatePayload { secret apiKey { id name } } } }`;
    const follow = `subscription Follow { events { node { id message { id timeline(first: 100) { nodes { message {
      timeline(first: 100) { nodes { id } } } } } } } } }`;

    const single = await graphql.ask(make);
    const combined = await graphql.ask(`${asking} ${make}`, undefined, { operation: 'Make' });

    expect(combined.errors).toEqual([]);
    const { requested } = single.extensions.cost as { requested: number };
    expect(requested).toBeGreaterThan(1);
    expect(combined.extensions.cost).toMatchObject({ requested });
    const stream = await graphql.ask(`${asking} ${follow}`, undefined, {
      operation: 'Follow',
      headers: { accept: 'text/event-stream, application/json' },
    });
    expect(stream.text).toContain('query_too_complex');
  });

  it('evaluates the selected operation, with its own fragments and defaults', async () => {
    const document = `
      query Dry($dry: Boolean = true) { ...asks usage { month } }
      query Wet($dry: Boolean = false) { ...asks usage { month } }
      query Plain { ...plain }
      fragment asks on Query { viewer { rateLimit(dryRun: $dry) { limit } } }
      fragment plain on Query { usage { month } viewer { scopes } }`;

    const responses = [];
    for (const operation of ['Dry', 'Wet', 'Plain'])
      responses.push(await graphql.ask(document, undefined, { operation }));

    expect(responses.map(({ errors }) => errors)).toEqual([[], [], []]);
    const limit = { rateLimit: { limit: 12_000 } };
    const usage = { month: expect.any(String) };
    expect(responses.map(({ data }) => data)).toEqual([
      { viewer: limit },
      { viewer: limit, usage },
      { viewer: { scopes: expect.any(Array) }, usage },
    ]);
    expect(responses.map(({ extensions }) => (extensions.cost as { requested: number }).requested)).toEqual([1, 3, 2]);
  });
});

describe('message content', () => {
  const read = async (text: string) => {
    const mail = { from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Hello', text };
    const { id } = await invoke(world.as(world.workspace_id), sendMessage, mail);
    const query =
      'query ($id: ID!) { node(id: $id) { ... on Message { sizeBytes content { text } raw { sizeBytes } } } }';
    return graphql.ask(query, { id });
  };

  it('costs one point per 64 kB of actual content', async () => {
    const [short, long] = [await read('Hi'), await read('Hello there. '.repeat(50_000))];

    expect(short.extensions.cost).toMatchObject({ requested: 401, actual: 3 });
    const { actual } = long.extensions.cost as { actual: number };
    expect(actual).toBeGreaterThan(20);
    expect(actual).toBeLessThan(50);
    expect(long.data).toMatchObject({ node: { sizeBytes: 650_002 } });
  });
});
