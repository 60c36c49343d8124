import type { Sql } from '@postrider/db';
import { openWorld } from '@postrider/testing/open-world';
import pino from 'pino';
import { expect, it } from 'vitest';
import { admitKeys } from '../api-keys/store.ts';
import { createContext } from '../index.ts';
import { countSend } from '../usage/store.ts';
import type { ActorContext } from './context.ts';
import { onReplica } from './on-replica.ts';
import { hashSecret } from './secrets.ts';

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
    factor_due: false,
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

it('an operation reads from the replica', async () => {
  const { ctx, peer } = await reader();
  expect(await onReplica(ctx, async ({ sql }) => (sql === peer.sql ? 'replica' : 'primary'))).toBe('replica');
});

it('an operation reads from the primary if the replica cannot, logging each error code once', async () => {
  const { ctx, peer, lines } = await reader();
  for (const state of ['0A000', '25006', '0A000', '25006', '40001']) {
    expect(await onReplica(ctx, failing(peer.sql, state))).toBe('primary');
  }
  expect(lines.map((line) => JSON.parse(line).err.code)).toEqual(['0A000', '25006']);
});

it('an operation rethrows any other failure', async () => {
  const { ctx, peer } = await reader();
  await expect(onReplica(ctx, failing(peer.sql, '22012'))).rejects.toMatchObject({ code: '22012' });
});

it.each(['key', 'user'] as const)(
  'an operation reads from the primary for ten seconds after sending a %s',
  async (kind) => {
    const { ctx, peer } = await reader();
    const workspace = await world.workspace('free');
    const { workspace_id, key_id } = workspace;
    const actor =
      kind === 'key'
        ? ({ kind, workspace_id, key_id, scopes: [], mode: 'live', domains: null } as const)
        : ({ ...ctx.actor, kind, workspace_id } as ActorContext['actor']);
    const where = () => onReplica({ ...ctx, actor }, async ({ sql }) => (sql === peer.sql ? 'replica' : 'primary'));
    expect(await where()).toBe('replica');
    if (kind === 'user') await countSend(world.services.sql, { workspace_id });
    else {
      const secret_hash = hashSecret(workspace.secret);
      await admitKeys(world.services.sql, 'default', [{ secret_hash, address: '127.0.0.1', wanted: 1 }]);
      expect(await where()).toBe('replica');
      await admitKeys(world.services.sql, 'send', [{ secret_hash, address: '127.0.0.1', wanted: 1 }]);
    }
    expect(await where()).toBe('primary');
  },
);
