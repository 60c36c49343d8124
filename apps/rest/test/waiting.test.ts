import { randomUUID } from 'node:crypto';
import { invoke, newId } from '@postrider/core';
import { noteWorker } from '@postrider/core/delivery';
import { createHold, releaseHold } from '@postrider/core/holds';
import {
  closeLane,
  countAgainstLimits,
  destinationOfLane,
  holdLane,
  limitDestination,
  parkDeliveries,
  transportLane,
} from '@postrider/core/lanes';
import { closeSpentLanes } from '@postrider/core/transports';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { openRest } from './rest-server.ts';

const world = await openWorld();
const rest = await openRest(world);
const worker = randomUUID();
beforeAll(async () => {
  await noteWorker(world.services.sql, { worker, stopped: false, ended_per_minute: 120 }, 10_000);
});

async function send(to: string, fields = {}): Promise<string> {
  const body = { from: 'hello@sandbox.test', to, subject: 'Hello', text: 'Hi', ...fields };
  return String((await rest.call('POST', '/email/send', { body })).body.id);
}

/** Returns why a message has not been sent, according to the message view and the list. */
async function waiting(id: string): Promise<{ own: Record<string, unknown>; listed: Record<string, unknown> }> {
  const [one, list] = await Promise.all([
    rest.call('GET', `/email/logs/${id}`),
    rest.call('GET', '/email/logs?limit=100'),
  ]);
  const reasonOf = (entry: unknown) =>
    (entry as { recipients: { waiting: Record<string, unknown> }[] }).recipients[0]?.waiting ?? {};
  const listed = (list.body.data as { id: string }[]).find((entry) => entry.id === id);
  return { own: reasonOf(one.body), listed: reasonOf(listed) };
}

const system = () => world.as(world.workspace_id);
const hold = (scope: string, value: string, fields = {}) =>
  invoke(system(), createHold, { scope, value, reason: 'An outage there', ...fields });

async function park(id: string, lane: string): Promise<void> {
  const job = (await world.services.jobs.fetch('delivery.attempt', 100)).find(({ data }) => data.message_id === id);
  if (!job) throw new Error(`${id} has no job`);
  await parkDeliveries(world.services, [
    { ...job.data, job, lane, priority: 'normal' as const, due_at: new Date(world.clock.now()) },
  ]);
}

describe('the reason an email is waiting', () => {
  it('is its scheduled time, if it is not due yet', async () => {
    const scheduled_at = new Date(world.clock.now() + 3_600_000).toISOString();
    const { own, listed } = await waiting(await send('ada@example.com', { scheduled_at }));

    expect(own).toMatchObject({ reason: 'scheduled', until: scheduled_at, hold: null, policy: null, ahead: null });
    expect(listed).toEqual(own);
  });

  it('is the queue, with a position and an estimated time, both omitted from lists', async () => {
    await world.drain();
    await world.clock.advance(1000);
    for (const to of ['a@example.com', 'b@example.com', 'c@example.com']) {
      await send(to);
      await world.clock.advance(10);
    }

    const { own, listed } = await waiting(await send('last@example.com'));

    expect(own).toMatchObject({ reason: 'in_line', until: null, ahead: 3, eta_seconds: 2 });
    expect(listed).toEqual({ ...own, ahead: null, eta_seconds: null });
  });

  it.each([
    ['destination', () => 'held.example.com', 'hold'],
    ['sender_domain', () => 'sandbox.test', 'hold'],
    ['queue', () => 'delivery.attempt', 'queue_paused'],
  ])(
    'is a hold on its %s, before any worker processes it and until the hold is released',
    async (scope, value, reason) => {
      const id = await send('ada@held.example.com');
      const { id: hold_id, expires_at } = await hold(scope, value());

      const { own, listed } = await waiting(id);

      const facts = { id: hold_id, reason: 'An outage there', expires_at };
      expect(own).toMatchObject({ reason, until: expires_at, hold: facts });
      expect(listed).toEqual(own);
      await invoke(system(), releaseHold, { hold_id });
      expect((await waiting(id)).own).toMatchObject({ reason: 'in_line', hold: null });
    },
  );

  it('is a hold on the key used to send it, and on no other key', async () => {
    const [key, other] = [await world.key({ scopes: ['email:send'] }), await world.key({ scopes: ['email:send'] })];
    const body = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
    const [held_reason, free] = await Promise.all(
      [key, other].map(async ({ secret }) => {
        const response = await rest.call('POST', '/email/send', { body, key: secret });
        return String(response.body.id);
      }),
    );
    const { id: hold_id } = await hold('api_key', key.id);

    expect((await waiting(held_reason ?? '')).own).toMatchObject({ reason: 'hold', hold: { id: hold_id } });
    expect((await waiting(free ?? '')).own).toMatchObject({ reason: 'in_line' });
    await invoke(system(), releaseHold, { hold_id });
  });

  it('is the rate at which email resumes after a hold', async () => {
    const id = await send('ada@slow.example.com');
    const { id: hold_id } = await hold('destination', 'slow.example.com', { resume_rate_per_minute: 7 });
    await park(id, holdLane(hold_id));
    await invoke(system(), releaseHold, { hold_id });

    const { own, listed } = await waiting(id);

    expect(own).toMatchObject({ reason: 'throttled', policy: { kind: 'resume_rate', messages_per_minute: 7 } });
    expect(listed).toEqual(own);
  });

  it('is a failing destination, or a destination limit with its values', async () => {
    const failing = await send('ada@busy.example.com');
    await park(failing, 'busy.example.com');
    await closeLane(world.services.sql, { lane: 'busy.example.com', seconds: 60, closings: 1, last_reply: '421 no' });
    const limited = await send('ada@kind.example.com');
    await park(limited, 'kind.example.com');
    await invoke(system(), limitDestination, {
      destination: 'kind.example.com',
      connections: 2,
      messages_per_minute: 1,
    });
    await countAgainstLimits(world.services.sql, [{ destination: 'kind.example.com', count: 2 }]);

    const limits = { connections: 2, messages_per_minute: 1 };
    expect((await waiting(failing)).own).toMatchObject({
      reason: 'throttled',
      last_reply: '421 no',
      until: expect.any(String),
      policy: { kind: 'destination_failures', destination: 'busy.example.com', messages_per_minute: null },
    });
    expect((await waiting(limited)).own).toMatchObject({
      reason: 'throttled',
      until: expect.any(String),
      policy: { kind: 'destination_limit', destination: 'kind.example.com', ...limits },
    });
  });

  it('is the limit of a transport, or what closes its destination, without the name of the lane', async () => {
    const transport_id = newId('transport', Date.now());
    const lanes = ['spent', 'strict', 'down'].map((name) => transportLane(`${name}.example.com`, transport_id));
    const ids: string[] = [];
    for (const lane of lanes) {
      const id = await send(`ada@${destinationOfLane(lane)}`);
      await park(id, lane);
      ids.push(id);
    }
    const [spent = '', strict = '', down = ''] = ids;
    await closeSpentLanes(world.services.sql, [lanes[0] ?? ''], new Date('2130-01-02T00:00:00Z'));
    await invoke(system(), limitDestination, { destination: 'strict.example.com', messages_per_minute: 1 });
    await countAgainstLimits(world.services.sql, [{ destination: 'strict.example.com', count: 2 }]);
    await closeLane(world.services.sql, { lane: lanes[2] ?? '', seconds: 60, closings: 1, last_reply: '421 no' });

    expect((await waiting(spent)).own).toMatchObject({ reason: 'transport_limit', until: '2130-01-02T00:00:00.000Z' });
    expect((await waiting(strict)).own).toMatchObject({
      reason: 'throttled',
      policy: { kind: 'destination_limit', destination: 'strict.example.com', messages_per_minute: 1 },
    });
    expect((await waiting(down)).own).toMatchObject({
      reason: 'throttled',
      policy: { kind: 'destination_failures', destination: 'down.example.com' },
    });
  });

  it('is the next attempt, with the last response', async () => {
    world.smtp.script(() => ({ kind: 'reply', code: 451, text: '4.3.0 later' }));
    const id = await send('ada@later.example.com');
    await world.drain();
    world.smtp.script(() => ({ kind: 'accept' }));

    const { own, listed } = await waiting(id);

    expect(own).toMatchObject({ reason: 'retry_backoff', last_reply: '451 4.3.0 later', until: expect.any(String) });
    expect(listed).toEqual(own);
  });

  it('is that no worker is running, and since when', async () => {
    const id = await send('ada@example.com');
    await noteWorker(world.services.sql, { worker, stopped: true, ended_per_minute: 0 }, 10_000);
    const [row] = await world.services.sql<{ noted_at: Date }[]>`select noted_at from delivery_workers`;

    const { own, listed } = await waiting(id);

    expect(own).toMatchObject({ reason: 'no_worker', since: row?.noted_at.toISOString(), ahead: null });
    expect(listed).toEqual(own);
  });
});
