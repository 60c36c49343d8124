import { createContext, invoke } from '@postrider/core';
import { sendBatch } from '@postrider/core/accept';
import { openWorld } from '@postrider/testing/open-world';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type GraphqlServer, startGraphql } from './graphql-server.ts';

const world = await openWorld();
let graphql: GraphqlServer;
let statements: string[];
beforeAll(async () => {
  statements = [];
  // Counts only statements on connections of the server under test.
  const services = await world.peer({ on_statement: (text) => void statements.push(text) });
  graphql = await startGraphql(services, world.secret);
  const ctx = createContext(world.services, { kind: 'system', workspace_id: world.workspace_id });
  const mail = {
    from: 'shop@sandbox.test',
    to: ['ada@example.com', 'defer+3@simulator.test'],
    subject: 'Hi',
    text: 'Hi',
  };
  await invoke(
    ctx,
    sendBatch,
    Array.from({ length: 100 }, () => mail),
  );
  await world.drain();
});
afterAll(async () => {
  await graphql.stop();
});

interface Page {
  readonly messages: { readonly nodes: { timeline: { nodes: unknown[] }; attempts: { nodes: unknown[] } }[] };
}

it.each([
  ['with their timelines and attempts', 100, 'id type at', 'number outcome reply'],
  [
    'with all that stands around those',
    20,
    'id type at data message { subject } recipient { address }',
    'number outcome reply recipients { address }',
  ],
])('messages %s require at most eight SQL statements, regardless of their number', async (_, count, event, attempt) => {
  const query = `{ messages(first: ${count}) { nodes {
    id status subject tags metadata recipientCounts { status count }
    timeline(first: 5) { nodes { ${event} } } attempts(first: 3) { nodes { ${attempt} } }
  } } }`;
  await graphql.ask(query);
  statements.length = 0;

  const response = await graphql.ask(query);

  expect(response.errors).toEqual([]);
  const { nodes } = (response.data as unknown as Page).messages;
  expect(nodes).toHaveLength(count);
  for (const node of nodes) {
    expect(node.timeline.nodes.length).toBeGreaterThan(1);
    expect(node.attempts.nodes.length).toBeGreaterThan(0);
  }
  expect(statements.length, statements.join('\n')).toBeLessThanOrEqual(8);
});

it('planUse runs one SQL statement for all workspaces, and none if it is not requested', async () => {
  const plan = '{ planUse { captureBytes { used limit } } }';
  for (let count = 0; count < 3; count++) await world.workspace('free');
  const { secret: key } = await world.key({ scopes: ['operator'] });
  const statementsFor = async (usage: string): Promise<readonly string[]> => {
    statements.length = 0;
    const { errors } = await graphql.ask(`{ workspaces(first: 10) { nodes { usage ${usage} } } }`, {}, { key });
    expect(errors).toEqual([]);
    return statements.filter((text) => text.includes('from captures'));
  };

  expect(await statementsFor('{ sent }')).toHaveLength(0);
  expect(await statementsFor(plan)).toHaveLength(1);
});
