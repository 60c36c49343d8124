import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { sendMessage } from '../../accept/index.ts';
import { createContext } from '../../create-context.ts';
import { invoke } from '../../operation/operation.ts';
import { listMessages } from './list-messages.ts';
import { readMessages } from './read-messages.ts';

const world = await openWorld();

it('single messages are read from the primary, because a replica may briefly show erased data', async () => {
  const { workspace_id, key_id } = await world.workspace('free');
  await world.domain('good.test', workspace_id);
  const mail = { from: 'a@good.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
  const { id } = await invoke(world.as(workspace_id), sendMessage, mail);
  const statements: string[] = [];
  const behind = await world.peer({ on_statement: (text) => statements.push(text) });
  const replica = { current: () => behind.sql, stop: async () => undefined };
  const actor = { kind: 'key', workspace_id, key_id, scopes: ['admin'], mode: 'live', domains: null } as const;
  const ctx = createContext({ ...world.services, replica }, actor);
  const onReplica = () => statements.filter((text) => text.includes('from messages')).length;

  expect(await invoke(ctx, readMessages, { ids: [id] })).toMatchObject([{ id }]);

  expect(onReplica()).toBe(0);
  await invoke(ctx, listMessages, {});
  expect(onReplica()).toBeGreaterThan(0);
});
