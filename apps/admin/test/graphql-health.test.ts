import { randomUUID } from 'node:crypto';
import { invoke, newId } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { noteWorker } from '@postrider/core/delivery';
import { createHold, releaseHold } from '@postrider/core/holds';
import { measureQueues } from '@postrider/core/queues';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { openGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);

interface Check {
  readonly name: string;
  readonly status: string;
  readonly detail: string | null;
  readonly advice: string | null;
}

async function health(key?: string): Promise<{ readonly status: string; readonly checks: readonly Check[] }> {
  const response = await graphql.ask(
    '{ health { status checks { name status detail advice checkedAt } } }',
    undefined,
    key === undefined ? {} : { key },
  );
  expect(response.errors).toEqual([]);
  return (response.data as unknown as { health: { status: string; checks: Check[] } }).health;
}
const check = async (name: string) => (await health()).checks.find((one) => one.name === name);
const work = (stopped = false) =>
  noteWorker(world.services.sql, { worker: randomUUID(), stopped, ended_per_minute: 0 }, 10_000);

describe('health', () => {
  it('is failing, with instructions, until a worker is running', async () => {
    const before = await health();
    await work();
    const after = await health();

    expect(before.status).toBe('FAILING');
    expect(before.checks.find(({ name }) => name === 'delivery')).toMatchObject({
      status: 'FAILING',
      detail: 'No worker has run yet.',
      advice: expect.stringContaining('ROLES'),
    });
    expect(after).toMatchObject({ status: 'OK' });
    expect(after.checks.every(({ status, detail }) => status === 'OK' && detail === null)).toBe(true);
  });

  it('reports long-overdue email, unless its queue is held', async () => {
    const ctx = world.as(world.workspace_id);
    await invoke(ctx, sendMessage, { from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Hi', text: 'Hi' });
    await world.clock.advance(600_000);
    await measureQueues(world.services.sql, ['delivery.attempt'], 0);

    const delayed = await check('line');
    const hold = await invoke(ctx, createHold, { scope: 'queue', value: 'delivery.attempt', reason: 'Quiet' });
    const [line_check, holds] = [await check('line'), await check('holds')];
    await invoke(ctx, releaseHold, { hold_id: hold.id });

    expect(delayed).toMatchObject({
      status: 'WARNING',
      detail: expect.stringMatching(/^Due email has been waiting for 6\d\d s/),
    });
    expect(line_check).toMatchObject({ status: 'OK' });
    expect(holds).toMatchObject({
      status: 'FAILING',
      detail: expect.stringMatching(/^Instance holds: queue delivery\.attempt \(Quiet\)/),
    });
    await world.drain();
  });

  it('lists failing domains and webhooks, and a quota that is nearly used up', async () => {
    const { sql } = world.services;
    const ws = world.workspace_id;
    await sql`update domains set status = 'at_risk' where workspace_id = ${ws} and name <> 'sandbox.test'`;
    await sql`
      insert into domains (workspace_id, id, name, status, created_at)
      values (${ws}, derived_id('dom', no_id(), 'lost'), 'lost.test', 'failed', clock_now())`;
    const webhook_id = newId('webhook', 0);
    await sql`
      insert into webhooks (workspace_id, id, url, status, status_reason, secret, secret_last4, created_at)
      values (${ws}, ${webhook_id}, 'http://gone.test', 'disabled', 'gone', '', 'last', clock_now()),
        (${ws}, derived_id('whk', no_id(), 'off'), 'http://off.test', 'disabled', 'manual', '', 'last', clock_now())`;
    await sql`update plans set monthly_limit = 1 where name = 'business'`;

    const { checks } = await health();

    const by_name = new Map(checks.map(({ name, status, detail }) => [name, { status, detail }]));
    expect(by_name.get('domains')).toEqual({ status: 'FAILING', detail: 'Cannot send: lost.test.' });
    expect(by_name.get('webhooks')).toEqual({ status: 'FAILING', detail: `Disabled after failures: ${webhook_id}.` });
    expect(by_name.get('quota')).toMatchObject({ status: 'FAILING', detail: expect.stringContaining('1 of 1 emails') });
  });

  it('is reported for the whole instance to operators, and for one workspace to its admins', async () => {
    const operator = await world.key({ scopes: ['operator'] });
    const admin = await world.key({ scopes: ['admin'] });
    const namesFor = async (key: string) => (await health(key)).checks.map(({ name }) => name);

    expect(await namesFor(operator.secret)).toEqual([
      ...['database', 'delivery', 'line', 'holds', 'dead_jobs'],
      ...['disk', 'replica', 'schedules', 'alerts', 'relay_feedback'],
    ]);
    expect(await namesFor(admin.secret)).toEqual([
      ...['database', 'delivery', 'line', 'holds', 'relay_feedback'],
      ...['domains', 'webhooks', 'quota', 'waiting', 'bounces', 'failed'],
    ]);
  });
});

it('the queue of a waiting message is shown only to operators', async () => {
  const ctx = world.as(world.workspace_id);
  await world.services.sql`update plans set monthly_limit = null where name = 'business'`;
  const mail = { from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Hi', text: 'Hi' };
  const { id } = await invoke(ctx, sendMessage, mail);
  await invoke(ctx, createHold, { scope: 'queue', value: 'delivery.attempt', reason: 'Quiet' });
  const query = `query ($id: ID!) { node(id: $id) { ... on Message { waiting { __typename
    ... on WaitQueuePaused { reason queue { name paused { reason } } } } } } }`;
  const { secret: key } = await world.key({ scopes: ['admin'] });

  const [own, unseen] = [await graphql.ask(query, { id }), await graphql.ask(query, { id }, { key })];

  const paused = { __typename: 'WaitQueuePaused', reason: 'Quiet' };
  expect(own.data).toEqual({
    node: { waiting: { ...paused, queue: { name: 'delivery.attempt', paused: { reason: 'Quiet' } } } },
  });
  expect(unseen.data).toEqual({ node: { waiting: { ...paused, queue: null } } });
});
