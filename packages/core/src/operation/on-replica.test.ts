import type { Sql } from '@postrider/db';
import { openWorld } from '@postrider/testing/open-world';
import pino from 'pino';
import { expect, it } from 'vitest';
import { createContext } from '../index.ts';
import type { ActorContext } from './context.ts';
import { onReplica } from './on-replica.ts';

const world = await openWorld();

async function reader() {
  const { workspace_id } = await world.workspace('free');
  const peer = await world.peer();
  const lines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => lines.push(line) });
  const replica = { current: () => peer.sql, stop: async () => undefined };
  const actor = {
    kind: 'user',
    workspace_id,
    user_id: workspace_id,
    session_id: workspace_id,
    email: 'ada@example.com',
    scopes: [],
  } as const;
  const ctx = createContext({ ...world.services, log, replica }, actor) as ActorContext;
  return { ctx, peer, lines };
}

function failing(replica: Sql, state: string) {
  return async ({ sql }: ActorContext) => {
    if (sql !== replica) return 'primary';
    await sql.unsafe(`do $$ begin raise exception 'refused' using errcode = '${state}'; end $$`);
    return 'replica';
  };
}

it('reads the replica', async () => {
  const { ctx, peer } = await reader();
  expect(await onReplica(ctx, async ({ sql }) => (sql === peer.sql ? 'replica' : 'primary'))).toBe('replica');
});

it('asks the primary where the replica cannot run a read, and logs each code once', async () => {
  const { ctx, peer, lines } = await reader();
  for (const state of ['0A000', '25006', '0A000', '25006', '40001']) {
    expect(await onReplica(ctx, failing(peer.sql, state))).toBe('primary');
  }
  expect(lines.map((line) => JSON.parse(line).err.code)).toEqual(['0A000', '25006']);
});

it('throws any other failure', async () => {
  const { ctx, peer } = await reader();
  await expect(onReplica(ctx, failing(peer.sql, '22012'))).rejects.toMatchObject({ code: '22012' });
});
