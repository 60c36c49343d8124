import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { invoke, newId } from '../../index.ts';
import { readAttemptsById } from './read-attempts.ts';

const world = await openWorld();

/** Inserts the rows of a message whose worker died: an attempt, and the event of the attempt that took over. */
async function lost(at: number, taken_over_at: number): Promise<string> {
  const { workspace_id } = world;
  const id = newId('attempt', at);
  const message_id = newId('message', at);
  await world.services.sql`
    insert into attempts (workspace_id, message_id, id, recipient_id, number, outcome, stage, target, phases_ms,
      started_at, finished_at)
    values (${workspace_id}, ${message_id}, ${id}, ${newId('recipient', at)}, 1, 'unknown', 'worker_lost', '', '{}',
      clock_now(), clock_now())`;
  await events(1, taken_over_at, message_id);
  return id;
}

async function events(count: number, at: number, message_id = newId('message', at)): Promise<void> {
  const ids = Array.from({ length: count }, () => newId('event', at));
  await world.services.sql`
    insert into events (workspace_id, id, type, message_id, sequence, facts, created_at)
    select ${world.workspace_id}, id, 'email.delivered', ${message_id}, 1, '{}', clock_now() from unnest(${ids}::uuid[]) id`;
}

const absentIds = (count: number, at: number) =>
  Array.from({ length: count }, (_, index) => newId('attempt', at + index));

async function find(ids: readonly string[]): Promise<(string | undefined)[]> {
  const attempts = await invoke(world.as(world.workspace_id), readAttemptsById, { ids });
  return attempts.map((attempt) => attempt?.id);
}

it('lost workers’ attempts and unknown ids are looked up in one scan', async () => {
  const at = world.clock.now();
  const [first, second] = [await lost(at, at + 200_000), await lost(at + 50, at + 300_000)];
  await events(40, at + 100_000);

  const results = await find([...absentIds(98, at + 1), first, second]);

  expect(results).toHaveLength(100);
  expect(results.slice(-2)).toEqual([first, second]);
});

it('a hundred ids are looked up in one read, at the cost of one id', async () => {
  const at = world.clock.now() + 3_600_000;
  const id = await lost(at, at + 200_000);
  await events(60, at + 100_000);

  expect(await find([id])).toEqual([id]);
  expect((await find([id, ...absentIds(99, at + 1)]))[0]).toBeUndefined();
});

it('an attempt recorded with its event is found among a hundred ids from a busy millisecond', async () => {
  const at = world.clock.now() + 7_200_000;
  const id = await lost(at, at);
  await events(400, at);

  expect((await find([id, ...absentIds(99, at + 1)]))[0]).toBe(id);
});
