import { invoke } from '@postrider/core';
import { createPlan } from '@postrider/core/workspaces';
import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { openGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);

it('fairness P15: a GraphQL request counts once toward the workspace limit, and is rejected beyond it', async () => {
  await world.clock.freeze(new Date('2031-05-10T12:00:05.000Z'));
  const plan = { name: 'rate', recipients_per_request: 10, workspace_rate: 3 };
  await invoke(world.as(world.workspace_id), createPlan, plan);
  await world.services.sql`update workspaces set plan = 'rate' where id = ${world.workspace_id}`;
  const keys = [await world.key({ scopes: ['admin'] }), await world.key({ scopes: ['admin'] })];
  const ask = (number: number) =>
    graphql.ask(
      '{ usage { planUse { workspaceRate { used limit } } } }',
      {},
      { key: keys[number % 2]?.secret ?? null },
    );

  const passed = [await ask(0), await ask(1), await ask(2)];
  const rejected = [await ask(3), await ask(4)];

  expect(passed.map(({ data }) => data)).toEqual(
    [1, 2, 3].map((used) => ({ usage: { planUse: { workspaceRate: { used, limit: 3 } } } })),
  );
  for (const { status, headers, errors } of rejected) {
    expect(status).toBe(429);
    expect(headers.get('retry-after')).toBe('55');
    expect(errors).toMatchObject([{ extensions: { code: 'rate_limited', reason: 'workspace_rate' } }]);
  }
});
