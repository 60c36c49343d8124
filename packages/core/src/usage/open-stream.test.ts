import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { MAX_KEY_STREAMS, MAX_WORKSPACE_STREAMS, openStream } from './open-stream.ts';

const world = await openWorld();
const { sql } = world.services;

it('streams opened with one workspace’s many keys leave room for another workspace’s streams', async () => {
  const { workspace_id } = world;
  const keys = await Promise.all(
    Array.from({ length: MAX_WORKSPACE_STREAMS / MAX_KEY_STREAMS + 1 }, () => world.key({ scopes: ['admin'] })),
  );
  const neighbor = await world.workspace('free');
  const [last, ...others] = keys;
  for (const { id } of others)
    for (let count = 0; count < MAX_KEY_STREAMS; count++) await openStream(sql, { key_id: id, workspace_id });

  const full = { code: 'rate_limited', reason: 'too_many_streams' };
  await expect(openStream(sql, { key_id: last?.id ?? '', workspace_id })).rejects.toMatchObject(full);
  const stream = await openStream(sql, neighbor);
  await stream.close();
});
