import { createWorld, startWebhookSink, type WebhookSink, type World } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../fields/ids.ts';
import { invoke } from '../../operation/operation.ts';
import { maintainStorage } from '../../storage/index.ts';
import { createWebhook } from '../endpoints/create-webhook.ts';

const DAY_MS = 86_400_000;

let world: World;
let sink: WebhookSink;
beforeEach(async () => {
  world = await createWorld();
  sink = await startWebhookSink();
  // The middle of a month, so that its end is two weeks away.
  await world.clock.freeze(new Date('2030-05-15T12:00:00Z'));
  await maintainStorage(world.services);
  await invoke(world.as(world.workspace_id), createWebhook, { url: `${sink.url}/hook` });
});
afterEach(async () => {
  await sink.stop();
  await world.stop();
});

async function happen(): Promise<string> {
  const id = newId('event', world.clock.now());
  await world.services.sql`
    insert into events (workspace_id, id, type, sequence, facts, created_at)
    values (${world.workspace_id}, ${id}, 'email.queued', 1, '{}', clock_now())`;
  return id;
}

const homes = async () =>
  (
    await world.services.sql<{ event_id: string; home: string; state: string }[]>`
      select event_id, tableoid::regclass::text as home, state from webhook_deliveries order by id`
  ).map((row) => ({ ...row }));
const month = async (name: string) => {
  const [row] = await world.services.sql<{ there: boolean }[]>`select to_regclass(${name}) is not null as there`;
  return row?.there;
};

describe('finished webhook deliveries', () => {
  it('are kept until 30 days after their month ends, and are then dropped with that month', async () => {
    await happen();
    await world.postWebhooks();
    await world.clock.advance(45 * DAY_MS);
    await maintainStorage(world.services);
    expect(await homes()).toMatchObject([{ home: 'webhook_deliveries_203005', state: 'delivered' }]);

    await world.clock.advance(2 * DAY_MS);
    const second = await happen();
    await maintainStorage(world.services);

    expect(await month('webhook_deliveries_203005')).toBe(false);
    expect(await homes()).toEqual([{ event_id: second, home: 'webhook_deliveries_203007', state: 'pending' }]);
  });

  it('are deleted row by row if their month has a pending delivery, which is kept', async () => {
    await happen();
    await world.postWebhooks();
    sink.script(() => ({ kind: 'reply', status: 500 }));
    const open = await happen();
    await world.postWebhooks();
    await world.clock.advance(60 * DAY_MS);

    await maintainStorage(world.services);
    await maintainStorage(world.services);

    expect(await homes()).toEqual([{ event_id: open, home: 'webhook_deliveries_203005', state: 'pending' }]);

    sink.script(() => ({ kind: 'reply', status: 200 }));
    await world.postWebhooks();
    expect(await homes()).toMatchObject([{ event_id: open, state: 'delivered' }]);
    await maintainStorage(world.services);

    expect(await homes()).toEqual([]);
    expect(await month('webhook_deliveries_203005')).toBe(false);
  });

  it('are also deleted from the default partition', async () => {
    await world.clock.advance(-400 * DAY_MS);
    await happen();
    await world.postWebhooks();
    expect(await homes()).toMatchObject([{ home: 'webhook_deliveries_default' }]);

    await world.clock.advance(400 * DAY_MS);
    await maintainStorage(world.services);

    expect(await homes()).toEqual([]);
  });
});
