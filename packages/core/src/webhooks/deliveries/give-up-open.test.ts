import type { Sql, Tx } from '@postrider/db';
import { createWorld, type World } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../fields/ids.ts';
import { invoke } from '../../operation/operation.ts';
import { createWebhook } from '../endpoints/create-webhook.ts';
import { deleteWebhook } from '../endpoints/delete-webhook.ts';
import { updateWebhook } from '../endpoints/update-webhook.ts';
import { giveUpDeliveries } from './give-up-open.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
  world.clock.freeze(new Date());
});
afterEach(() => world.stop());

const system = () => world.as(world.workspace_id);
const hook = () => invoke(system(), createWebhook, { url: 'http://127.0.0.1:9999/hook' });
const happen = (sql: Sql | Tx) => sql`
  insert into events (workspace_id, id, type, sequence, facts, created_at)
  values (${world.workspace_id}, ${newId('event', world.clock.now())}, 'email.queued', 1, '{}', clock_now())`;
const states = async () =>
  (await world.services.sql<{ state: string }[]>`select state from webhook_deliveries`).map(({ state }) => state);

/** Runs the due jobs; returns their count. */
async function close(): Promise<number> {
  const jobs = await world.services.jobs.fetch('webhook.close', 10);
  for (const { data } of jobs) await giveUpDeliveries(world.services, data.webhook_id);
  return jobs.length;
}

describe('a pending delivery to a closed endpoint', () => {
  it.each([
    ['deleted', (id: string) => invoke(system(), deleteWebhook, { id })],
    ['disabled', (id: string) => invoke(system(), updateWebhook, { id, status: 'disabled' })],
  ])('fails even if it was inserted before the endpoint was %s and committed afterward', async (_, end) => {
    const { id } = await hook();
    await world.services.sql.begin(async (tx) => {
      await happen(tx);
      await end(id);
      expect(await close()).toBe(1);
    });
    expect(await states()).toEqual(['pending']);

    await world.clock.advance(60_000);

    expect(await close()).toBe(1);
    expect(await states()).toEqual(['failed']);
  });

  it('fails later if it is locked during both passes', async () => {
    const { id } = await hook();
    await happen(world.services.sql);
    await happen(world.services.sql);
    await world.services.sql.begin(async (tx) => {
      await tx`select from webhook_deliveries order by id limit 1 for update`;
      await invoke(system(), deleteWebhook, { id });
      await close();
      await world.clock.advance(60_000);
      await close();
      expect((await states()).sort()).toEqual(['failed', 'pending']);
    });

    await world.clock.advance(60_000);
    await close();

    expect(await states()).toEqual(['failed', 'failed']);
    await world.clock.advance(60_000);
    expect(await close()).toBe(0);
  });
});
