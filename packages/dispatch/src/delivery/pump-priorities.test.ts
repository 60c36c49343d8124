import { setTimeout } from 'node:timers/promises';
import { invoke } from '@postrider/core';
import { sendBatch, sendMessage } from '@postrider/core/accept';
import { retryMessageNow } from '@postrider/core/messages';
import { type Priority, priorities } from '@postrider/core/priorities';
import { createSmtpTransport } from '@postrider/mail';
import { openWorld } from '@postrider/testing/open-world';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startHoldCache } from '../holds/hold-cache.ts';
import { startDeliveryPump } from './pump.ts';

const PATIENCE = { timeout: 30_000, interval: 20 };
const BULK = 400;

const world = await openWorld();
const stops: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  world.smtp.script(() => ({ kind: 'accept' }));
  await world.services.sql`delete from pgboss.job where name = 'delivery.attempt'`;
  await world.services.sql`truncate parked_deliveries`;
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const mail = { from: 'hello@sandbox.test', subject: 'Hello', text: 'Hi' };
const people = (count: number, name: string) =>
  Array.from({ length: count }, (_, index) => `${name}${index}@example.com`);

async function send(priority: Priority, to: readonly string[], workspace_id = world.workspace_id): Promise<string> {
  return (await invoke(world.as(workspace_id), sendMessage, { ...mail, to, priority })).id;
}

async function sendMany(priority: Priority, count: number, name: string = priority): Promise<void> {
  const to = people(count, name);
  for (let from = 0; from < count; from += 50) await send(priority, to.slice(from, from + 50));
}

/** Starts a worker with one destination, which accepts one message at a time and takes 5 ms for each message. */
function start(): void {
  const mailer = createSmtpTransport({
    host: '127.0.0.1',
    port: world.smtp.port,
    secure: false,
    tls: 'none',
    max_connections: 1,
    helo_name: 'localhost',
  });
  const slow = {
    ...mailer,
    laneOf: () => 'relay',
    stop: () => mailer.stop(),
    async send(...sent: Parameters<typeof mailer.send>) {
      await setTimeout(5);
      return mailer.send(...sent);
    },
  };
  const holds = startHoldCache(world.services);
  const pump = startDeliveryPump(world.services, { live: slow, sandbox: slow }, holds);
  stops.push(
    () => pump.stop(),
    () => holds.stop(),
    () => mailer.stop(),
  );
}

const arrived = (from: number) => world.smtp.messages.slice(from).map(({ envelope_to }) => String(envelope_to[0]));
const jobs = () => world.services.sql<{ priority: number; state: string }[]>`
  select j.priority, j.state::text from pgboss.job j where name = 'delivery.attempt' order by j.priority desc`;

describe('an email’s priority', () => {
  it('lets high-priority email overtake its workspace’s bulk backlog, which still makes progress', async () => {
    await sendMany('bulk', BULK);
    const before = world.smtp.messages.length;
    start();
    await expect.poll(() => arrived(before).length, PATIENCE).toBeGreaterThan(20);
    const at = arrived(before).length;

    await sendMany('high', 20);

    await expect.poll(() => arrived(before).filter((to) => to.startsWith('high')).length, PATIENCE).toBe(20);
    const last = arrived(before).findLastIndex((to) => to.startsWith('high'));
    expect(last).toBeLessThan(BULK - 50);
    expect(
      arrived(before)
        .slice(at, last)
        .some((to) => to.startsWith('bulk')),
    ).toBe(true);
    await expect.poll(() => arrived(before).length, PATIENCE).toBe(BULK + 20);
  });

  it('does not change another workspace’s turns', async () => {
    const other = await world.workspace('business');
    await world.domain('other.test', other.workspace_id);
    await sendMany('bulk', BULK);
    const before = world.smtp.messages.length;
    start();
    await expect.poll(() => arrived(before).length, PATIENCE).toBeGreaterThan(20);

    const theirs = { ...mail, from: 'hello@other.test', to: people(20, 'theirs') };
    await invoke(world.as(other.workspace_id), sendMessage, theirs);

    await expect.poll(() => arrived(before).filter((to) => to.startsWith('theirs')).length, PATIENCE).toBe(20);
    expect(arrived(before).length).toBeLessThan(BULK);
    await expect.poll(() => arrived(before).length, PATIENCE).toBe(BULK + 20);
  });

  it('sets the job’s priority, whether sent singly or in a batch, immediate or scheduled', async () => {
    const batch = priorities.map((priority) => ({ ...mail, to: 'ada@example.com', priority }));
    await invoke(world.as(world.workspace_id), sendBatch, batch);
    for (const priority of priorities) await send(priority, ['bob@example.com']);
    const scheduled_at = new Date(world.clock.now() + 3_600_000).toISOString();
    const scheduled = { ...mail, to: 'eve@example.com', priority: 'high', scheduled_at };
    await invoke(world.as(world.workspace_id), sendMessage, scheduled);

    expect((await jobs()).map(({ priority }) => priority)).toEqual([1, 1, 1, 0, 0, -1, -1]);
  });

  it('is preserved across retries', async () => {
    world.smtp.script(() => ({ kind: 'reply', code: 451, text: '4.3.0 later' }));
    const id = await send('bulk', ['ada@example.com']);
    await world.drain();
    const deferred = await jobs();

    await invoke(world.as(world.workspace_id), retryMessageNow, { id });

    expect(deferred).toEqual([{ priority: -1, state: 'created' }]);
    expect((await jobs()).map(({ priority }) => priority)).toEqual([-1, -1]);
  });
});
