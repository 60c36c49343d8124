import { openWorld } from '@postrider/testing/open-world';
import { beforeEach, expect, it } from 'vitest';
import { createHold } from '../holds/index.ts';
import type { Services } from '../operation/context.ts';
import { invoke } from '../operation/operation.ts';
import { measureQueues, queueNames } from '../queues/index.ts';
import { createInstanceWatch } from './watch-instance.ts';

const world = await openWorld();

beforeEach(async () => {
  const { sql } = world.services;
  await sql`delete from processes`;
  await sql`delete from instance_watch`;
});

const gauge = (services: Services, name: string, ...labels: string[]) =>
  services.metrics
    .read()
    .find((reading) => reading.name === name)
    ?.points.find((point) => point.labels.join() === labels.join())?.value;

it('the instance gauges are published by one process at a time', async () => {
  const peer = await world.peer();
  const [first, second] = [createInstanceWatch(world.services, null), createInstanceWatch(peer, null)];

  const turns = [await first.turn(), await second.turn(), await first.turn(), await second.turn()];

  expect(turns).toEqual([true, false, true, false]);
  expect(gauge(world.services, 'quota_used_ratio')).toBe(0);
  expect(gauge(peer, 'quota_used_ratio')).toBeUndefined();
  expect(gauge(world.services, 'worker_live', 'rest')).toBe(2);
});

it('another process takes over if the publishing process stops or is lost', async () => {
  const peer = await world.peer();
  const [first, second] = [createInstanceWatch(world.services, null), createInstanceWatch(peer, null)];
  await first.turn();
  await first.stop();

  const after_stop = await second.turn();
  await world.clock.advance(60_000);
  const after_loss = await first.turn();

  expect([after_stop, after_loss]).toEqual([true, true]);
  expect(await second.turn()).toBe(false);
  expect(gauge(peer, 'quota_used_ratio')).toBeUndefined();
});

it('the instance watch reads queues, holds, quotas, domains, endpoints and late email', async () => {
  const { services, workspace_id } = world;
  const { sql } = services;
  await sql`
    insert into usage_months (workspace_id, month, used, monthly_limit)
    values (${workspace_id}, date_trunc('month', clock_now() at time zone 'UTC')::date, 45, 60)`;
  await world.domain('lost.test');
  await sql`update domains set status = 'at_risk' where name = 'lost.test'`;
  await invoke(world.as(workspace_id), createHold, { scope: 'destination', value: 'slow.test', reason: 'Outage' });
  await measureQueues(sql, queueNames, 0);

  const watches = await createInstanceWatch(services, null).turn();

  expect(watches).toBe(true);
  expect(gauge(services, 'quota_used_ratio')).toBe(0.75);
  expect(gauge(services, 'domain_records_failing')).toBe(1);
  expect(gauge(services, 'holds_active', 'destination')).toBe(1);
  expect(gauge(services, 'queue_jobs', 'delivery.attempt', 'ready')).toBe(0);
  expect(gauge(services, 'scheduled_late_seconds')).toBe(0);
});
