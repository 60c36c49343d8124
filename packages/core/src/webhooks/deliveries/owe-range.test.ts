import { createWorld, type World } from '@postrider/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newId } from '../../fields/ids.ts';
import { invoke } from '../../operation/operation.ts';
import { createWebhook } from '../endpoints/create-webhook.ts';
import { recoverWebhook } from '../endpoints/recover-webhook.ts';
import { updateWebhook } from '../endpoints/update-webhook.ts';
import { oweRange } from './owe-range.ts';

const ENDPOINTS = 10;
const SINCE = '2020-01-01T00:00:00Z';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(async () => {
  await world.stop();
});

async function endpointOf(workspace_id: string): Promise<string> {
  const url = 'https://hooks.example.com/postrider';
  return (await invoke(world.as(workspace_id), createWebhook, { url, events: ['domain.verified'] })).id;
}

/** Adds events without deliveries, as if they were recorded while the endpoint was disabled. */
async function addEvents(workspace_id: string, count: number): Promise<void> {
  const now_ms = Date.now() - 60_000;
  await world.services.sql`
    insert into events (workspace_id, id, type, sequence, facts, created_at)
    select ${workspace_id}, id, 'domain.removed', 0, '{}', clock_now()
    from unnest(${Array.from({ length: count }, () => newId('event', now_ms))}::uuid[]) e (id)`;
}

const recoverAt = (workspace_id: string, id: string) =>
  invoke(world.as(workspace_id), recoverWebhook, { id, since: SINCE });

async function openAt(workspace_id: string): Promise<number> {
  const rows = await world.services.sql`select from webhook_recoveries where workspace_id = ${workspace_id}`;
  return rows.length;
}

it('fairness P13: recoveries alternate between workspaces, however many one workspace has started', async () => {
  const greedy = world.workspace_id;
  await addEvents(greedy, 1200);
  for (let n = 0; n < ENDPOINTS; n++) await recoverAt(greedy, await endpointOf(greedy));
  const { workspace_id: other } = await world.workspace('business');
  await recoverAt(other, await endpointOf(other));

  const [job] = await world.services.jobs.fetch('webhook.recover', 1);
  if (job) await oweRange(world.services, job.data);

  expect(job?.data.workspace_id).toBe(greedy);
  expect(await openAt(other)).toBe(0);
  expect(await openAt(greedy)).toBe(ENDPOINTS - 1);
});

it('fairness P13: a second recovery of an endpoint is rejected and counted until the first finishes', async () => {
  const { workspace_id } = world;
  const id = await endpointOf(workspace_id);
  await recoverAt(workspace_id, id);

  await expect(recoverAt(workspace_id, id)).rejects.toMatchObject({ reason: 'recovery_open' });

  const rejected = world.services.metrics.read().find(({ name }) => name === 'share_rejected_total');
  expect(rejected?.points).toContainEqual({ labels: ['webhook_recoveries', 'full'], value: 1 });
  const jobs = await world.services.jobs.fetch('webhook.recover', 10);
  expect(jobs).toHaveLength(1);
  for (const { data } of jobs) await oweRange(world.services, data);
  expect((await recoverAt(workspace_id, id)).status).toBe('started');
});

it('a recovery whose job has failed too often gives way to the next recovery', async () => {
  const { workspace_id } = world;
  const id = await endpointOf(workspace_id);
  await recoverAt(workspace_id, id);
  await world.services.sql`update pgboss.job set state = 'failed' where name = 'webhook.recover'`;

  expect((await recoverAt(workspace_id, id)).status).toBe('started');
  expect(await openAt(workspace_id)).toBe(1);
});

it('a recovery stops when its endpoint is deleted', async () => {
  const { workspace_id } = world;
  await addEvents(workspace_id, 1200);
  const id = await endpointOf(workspace_id);
  await recoverAt(workspace_id, id);
  await invoke(world.as(workspace_id), updateWebhook, { id, status: 'disabled' });

  const [job] = await world.services.jobs.fetch('webhook.recover', 1);
  if (job) await oweRange(world.services, job.data);

  expect(await openAt(workspace_id)).toBe(0);
});
