import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { openGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);

const MIB = 1024 * 1024;

async function send(bytes: number): Promise<string> {
  const mail = { from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Large', text: 'x'.repeat(bytes) };
  return (await invoke(world.as(world.workspace_id), sendMessage, mail)).id;
}

it('fairness P27: a response over 4 MiB is rejected before it is built, without reading more content', async () => {
  const ids = await Promise.all(Array.from({ length: 6 }, () => send(3 * MIB)));
  const aliases = ids.map((id, at) => `m${at}: node(id: "${id}") { ... on Message { content { text } } }`);

  const { data, errors, text } = await graphql.ask(`{ ${aliases.join('\n')} }`);

  expect(data ?? null).toBeNull();
  expect(errors).toMatchObject([{ extensions: { code: 'invalid_request', reason: 'response_too_large' } }]);
  expect(text.length).toBeLessThan(10_000);
  const [reads] = await world.services.sql`
    select count(*)::int as count from audit_log where action = 'message.content_read'`;
  expect(reads).toEqual({ count: 2 });
});

it('fairness P27: content requested under several aliases is counted each time', async () => {
  const id = await send(MIB);
  const aliases = Array.from({ length: 5 }, (_, at) => `a${at}: content { text }`);

  const { errors } = await graphql.ask(`{ node(id: "${id}") { ... on Message { ${aliases.join('\n')} } } }`);

  expect(errors).toMatchObject([{ extensions: { reason: 'response_too_large' } }]);
});

it('content below the limit is returned, and the source is available through its link', async () => {
  const id = await send(3 * MIB);

  const { data, errors } = await graphql.ask(
    `{ node(id: "${id}") { ... on Message { content { text } raw { sizeBytes url } } } }`,
  );

  expect(errors).toEqual([]);
  expect(data).toMatchObject({ node: { raw: { url: expect.stringContaining('/content/') } } });
});
