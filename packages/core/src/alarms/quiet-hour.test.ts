import { randomUUID } from 'node:crypto';
import { listenHttp } from '@postrider/testing';
import { endAfterTests, openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { noteWorker } from '../delivery/index.ts';
import { createHold } from '../holds/index.ts';
import { createInstanceWatch } from '../metrics/index.ts';
import { INSTANCE } from '../operation/access.ts';
import { invoke } from '../operation/operation.ts';
import { measureQueues } from '../queues/index.ts';
import { createWebhook, updateWebhook } from '../webhooks/index.ts';
import { createAlarmJudge } from './judge.ts';

const TURN_MS = 15_000;
const HOUR_MS = 3_600_000;
const DELIVERIES = 1000;

const world = await openWorld();
const { services, clock } = world;
const { sql } = services;
const judge = endAfterTests(createAlarmJudge(services));
const watch = createInstanceWatch(services, judge);
const ctx = world.as(world.workspace_id);

it('paused, scheduled, held and parked work raises no alarm, and a dead endpoint only the one of its workspace', async () => {
  await clock.freeze(new Date(Date.UTC(2030, 4, 15, 12)));
  await world.domain('held.test');
  const gone = await listenHttp(() => undefined);
  const dead_port = gone.port;
  await gone.stop();
  const dead = await invoke(ctx, createWebhook, { url: `http://127.0.0.1:${dead_port}/`, events: ['email.queued'] });
  const off = await invoke(ctx, createWebhook, { url: `http://127.0.0.1:${dead_port}/off` });
  await invoke(ctx, updateWebhook, { id: off.id, status: 'disabled' });
  const mail = { from: 'a@sandbox.test', to: 'ada@example.com', subject: 'Hi', text: 'Hi' };
  for (let number = 0; number < DELIVERIES; number++) await invoke(ctx, sendMessage, mail);
  await world.drain();
  await invoke(ctx, sendMessage, { ...mail, scheduled_at: new Date(clock.now() + 3 * HOUR_MS).toISOString() });
  const expires_at = new Date(clock.now() + 4 * HOUR_MS).toISOString();
  await invoke(ctx, createHold, { scope: 'sender_domain', value: 'held.test', reason: 'Too loud', expires_at });
  for (let number = 0; number < 20; number++) await invoke(ctx, sendMessage, { ...mail, from: 'a@held.test' });
  await world.drain();

  const worker = randomUUID();
  for (let turn = 0; turn < HOUR_MS / TURN_MS; turn++) {
    await clock.advance(TURN_MS);
    await noteWorker(sql, { worker, stopped: false, ended_per_minute: 0 }, 10_000);
    await world.postWebhooks();
    await measureQueues(sql, ['delivery.attempt', 'webhook.deliver'], 0);
    await watch.turn();
  }
  await judge.idle();

  const pending = await sql`select 1 from webhook_deliveries where webhook_id = ${dead.id} and state = 'pending'`;
  expect(pending.length).toBeGreaterThan(DELIVERIES - 50);
  const raised = await sql<{ workspace_id: string; rule: string; subject: string }[]>`
    select workspace_id, rule, subject from alarms where status in ('active', 'ended')`;
  expect(raised.filter(({ workspace_id }) => workspace_id === INSTANCE)).toEqual([]);
  expect(raised).toEqual([{ workspace_id: world.workspace_id, rule: 'webhook_fails', subject: dead.id }]);
});
