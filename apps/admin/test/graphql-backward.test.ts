import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { openGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);
let ids: string[];
beforeAll(async () => {
  ids = [];
  for (let number = 0; number < 23; number++) {
    const tags = [number % 3 === 0 ? 'third' : 'other'];
    const mail = { from: 'shop@sandbox.test', to: `n${number}@example.com`, subject: 'Hi', text: 'Hi', tags };
    ids.unshift((await invoke(world.as(world.workspace_id), sendMessage, mail)).id);
    await world.clock.advance(2);
  }
});

interface Page {
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: string } }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
}

const QUERY = `query ($first: Int, $after: String, $last: Int, $before: String, $filter: MessageFilter) {
  messages(first: $first, after: $after, last: $last, before: $before, filter: $filter) {
    edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;

async function page(args: object): Promise<Page> {
  const response = await graphql.ask(QUERY, { ...args });
  expect(response.errors).toEqual([]);
  return (response.data as unknown as { messages: Page }).messages;
}
const idsOf = ({ edges }: Page) => edges.map(({ node }) => node.id);

describe('a backward page', () => {
  it.each([
    ['of everything', undefined, () => ids],
    ['of what a filter finds', { tags: ['third'] }, () => ids.filter((_, index) => (22 - index) % 3 === 0)],
    [
      'of what several find',
      { tags: ['third'], domain: 'sandbox.test', toDomain: 'example.com', status: ['QUEUED'] },
      () => ids.filter((_, index) => (22 - index) % 3 === 0),
    ],
  ])('%s is in list order, and the pages before it contain the rest', async (_, filter, expected) => {
    const pages: Page[] = [];
    let before: string | null = null;
    do {
      const connection: Page = await page({ last: 5, before, filter });
      pages.unshift(connection);
      before = connection.pageInfo.hasPreviousPage ? connection.pageInfo.startCursor : null;
    } while (before !== null);

    expect(pages.flatMap(idsOf)).toEqual(expected());
    expect(pages.slice(1).every(({ edges }) => edges.length === 5)).toBe(true);
    expect(pages.at(-1)?.pageInfo.hasNextPage).toBe(false);
  });

  it('stops before the cursor of any edge, including cursors from forward paging', async () => {
    const { edges } = await page({ first: 10 });

    const previous = await page({ last: 3, before: edges[7]?.cursor });
    const forward = await page({ first: 3, after: previous.pageInfo.endCursor });

    expect(idsOf(previous)).toEqual(ids.slice(4, 7));
    expect(previous.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
    expect(idsOf(forward)).toEqual(ids.slice(7, 10));
    expect(await page({ last: 3, before: edges[0]?.cursor })).toMatchObject({
      edges: [],
      pageInfo: { hasPreviousPage: false },
    });
  });

  it('has 20 entries if only before is set, and costs points according to its length', async () => {
    const { pageInfo } = await page({ last: 1 });

    const response = await graphql.ask(QUERY, { before: pageInfo.startCursor });
    const expensive = await graphql.ask(QUERY, { first: 1, last: 100 });

    expect(idsOf((response.data as unknown as { messages: Page }).messages)).toEqual(ids.slice(2, 22));
    expect(expensive.extensions.cost).toMatchObject({ requested: 101, actual: 24 });
  });

  it.each([
    ['after with last', { last: 2, after: 'x' }, 'invalid_cursor', 'before'],
    ['a length of none', { last: 0 }, 'invalid_limit', 'last'],
    ['a length beyond a hundred', { last: 101 }, 'invalid_limit', 'last'],
    ['a cursor that is none', { before: 'x' }, 'invalid_cursor', 'before'],
  ])("is rejected for %s, using the argument's GraphQL name", async (_, args, reason, name) => {
    const response = await graphql.ask(QUERY, args);

    expect(response.errors).toMatchObject([
      { extensions: { code: 'invalid_request', reason, fields: [{ path: [name] }] } },
    ]);
  });

  it('is rejected for a cursor from a query with other filters', async () => {
    const { pageInfo } = await page({ last: 1, filter: { tags: ['third'] } });

    const response = await graphql.ask(QUERY, { last: 1, before: pageInfo.startCursor });

    expect(response.errors).toMatchObject([{ extensions: { reason: 'invalid_cursor' } }]);
  });
});
