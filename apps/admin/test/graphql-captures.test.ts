import { recordCapture } from '@postrider/core/captures';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { openGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);

const ask = (to: string, wait: number) =>
  graphql.ask(`query ($to: String, $wait: Int) { captures(filter: { to: $to }, wait: $wait) { nodes { subject } } }`, {
    to,
    wait,
  });

async function capture(to: string): Promise<void> {
  const raw = Buffer.from(`From: shop@sandbox.test\r\nTo: ${to}\r\nSubject: Your code\r\n\r\n123456`);
  await recordCapture(
    world.services,
    { envelope_from: 'shop@sandbox.test', envelope_to: [to], raw },
    world.workspace_id,
  );
}

describe('captures', () => {
  it('are returned by a query that waits up to its time limit for the first match', async () => {
    const waiting = ask('late@example.com', 30);
    await capture('late@example.com');

    expect((await waiting).data).toEqual({ captures: { nodes: [{ subject: 'Your code' }] } });
    expect((await ask('never@example.com', 1)).data).toEqual({ captures: { nodes: [] } });
    expect((await ask('never@example.com', -1)).errors).toMatchObject([{ extensions: { reason: 'invalid_type' } }]);
  });
});
