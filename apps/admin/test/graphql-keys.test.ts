import { createWorld, type World } from '@postrider/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GraphqlServer, startGraphql } from './graphql-server.ts';

let world: World;
let graphql: GraphqlServer;
beforeAll(async () => {
  world = await createWorld();
  graphql = await startGraphql(world.services, world.secret);
});
afterAll(async () => {
  await graphql.stop();
  await world.stop();
});

describe('a key', () => {
  it.each([
    ['none', {}, 'missing_key'],
    ['Basic', { authorization: 'Basic YTpi' }, 'malformed_key'],
    ['one that nobody has', { authorization: `Bearer pr_live_${'0'.repeat(64)}` }, 'unknown_key'],
    ['a cookie', { cookie: 'sid=abc' }, 'missing_key'],
  ])('is asked for before anything is read: %s', async (_, headers, reason) => {
    const answer = await graphql.ask('{ nonsense', undefined, { key: null, headers });

    expect(answer.status).toBe(401);
    expect(answer.errors).toMatchObject([
      { extensions: { code: 'unauthorized', reason, requestId: answer.headers.get('x-request-id') } },
    ]);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(answer.headers.get('x-ratelimit-limit')).toBe('120');
  });

  it('needs the scope admin or operator', async () => {
    const { secret } = await world.key({ scopes: ['email:logs:read'] });

    const answer = await graphql.ask('{ __typename }', undefined, { key: secret });

    expect(answer.status).toBe(403);
    expect(answer.errors).toMatchObject([
      { extensions: { code: 'forbidden', reason: 'missing_scope', requiredScope: 'admin' } },
    ]);
  });

  it('that is revoked is refused from the next request on', async () => {
    const key = await world.key({ scopes: ['admin'] });
    const before = await graphql.ask('{ __typename }', undefined, { key: key.secret });

    await world.services.sql`update api_keys set revoked_at = clock_now() where id = ${key.id}`;
    const after = await graphql.ask('{ __typename }', undefined, { key: key.secret });

    expect(before.data).toEqual({ __typename: 'Query' });
    expect(after.errors).toMatchObject([{ extensions: { reason: 'revoked_key' } }]);
  });

  it('with operator alone does not read the mail of a workspace', async () => {
    const { secret } = await world.key({ scopes: ['operator'] });

    const answer = await graphql.ask('{ messages { nodes { id } } }', undefined, { key: secret });

    expect(answer.status).toBe(200);
    expect(answer.data).toBeNull();
    expect(answer.errors).toMatchObject([
      { path: ['messages'], extensions: { reason: 'missing_scope', requiredScope: 'email:logs:read' } },
    ]);
  });
});
