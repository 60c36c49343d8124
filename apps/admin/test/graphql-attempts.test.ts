import { invoke, newId } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { rollUpFailures } from '@postrider/core/failures';
import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { openGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);

interface Attempt {
  readonly id: string;
  readonly number: number;
  readonly recipients: readonly { readonly address: string }[];
  readonly failureGroup: { readonly id: string; readonly count: number } | null;
}

async function send(...to: string[]): Promise<string> {
  const mail = { from: 'shop@sandbox.test', to, subject: 'Hello', text: 'Hi' };
  return (await invoke(world.as(world.workspace_id), sendMessage, mail)).id;
}

async function attemptsOf(id: string): Promise<readonly Attempt[]> {
  const { data } = await graphql.ask(
    `query ($id: ID!) { node(id: $id) { ... on Message { attempts(first: 100) { nodes {
      id number recipients { address } failureGroup { id count } } } } } }`,
    { id },
  );
  return (data as unknown as { node: { attempts: { nodes: Attempt[] } } }).node.attempts.nodes;
}

const byId = async (ids: readonly string[], key?: string) =>
  (
    await graphql.ask(
      `query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Attempt { number recipients { address } } } }`,
      { ids },
      key === undefined ? {} : { key },
    )
  ).data?.nodes;

it('an attempt is found by its id in a log or event, whether recent or hours old', async () => {
  world.smtp.script(() => ({ kind: 'reply', code: 451, text: '4.3.0 Later' }));
  const id = await send('grace@example.com', 'ada@example.com');
  await world.drain();
  world.smtp.script(() => ({ kind: 'accept' }));
  await world.clock.advance(3_600_000);
  await world.drain();
  const attempts = await attemptsOf(id);

  const nodes = await byId(attempts.map((attempt) => attempt.id));

  expect(attempts).toHaveLength(4);
  expect(nodes).toEqual(attempts.map(({ failureGroup: _, ...attempt }) => attempt));
});

it('a missing attempt, or one in another workspace, is not found', async () => {
  const { secret } = await world.workspace('free');
  const id = await send('ada@example.com');
  await world.drain();
  const [attempt] = await attemptsOf(id);
  const never = newId('attempt', world.clock.now());

  expect(await byId([attempt?.id ?? ''], secret)).toEqual([null]);
  expect(await byId([never, attempt?.id ?? ''])).toMatchObject([null, { id: attempt?.id }]);
});

it('an attempt belongs to its failure group once the group has been counted', async () => {
  world.smtp.script(() => ({ kind: 'reply', code: 550, text: '5.7.1 No such user here' }));
  const refused_id = await send('nobody@example.com');
  await world.drain();
  world.smtp.script(() => ({ kind: 'accept' }));
  const id = await send('ada@example.com');
  await world.drain();
  const before = await attemptsOf(refused_id);
  await world.clock.advance(120_000);
  await rollUpFailures(world.services);

  const [rejected] = await attemptsOf(refused_id);
  const [accepted] = await attemptsOf(id);

  expect(before.map(({ failureGroup }) => failureGroup)).toEqual([null]);
  expect(accepted?.failureGroup).toBeNull();
  const since = new Date(world.clock.now() - 3_600_000).toISOString();
  const { data } = await graphql.ask(
    'query ($since: DateTime!) { failureGroups(range: { since: $since }, kind: SMTP) { id count sample } }',
    { since },
  );
  expect(data?.failureGroups).toContainEqual(expect.objectContaining({ ...rejected?.failureGroup, count: 1 }));
});
