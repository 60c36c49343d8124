import { connect } from '@postrider/db';
import { openWorld } from '@postrider/testing/open-world';
import { beforeEach, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { invoke } from '../operation/operation.ts';
import { claimDeliveries } from './claim.ts';
import type { DeliveryJob } from './jobs-store.ts';
import { freeLeftovers, freeUnknownMail } from './workers-store.ts';

const QUIET_SECONDS = 3;

const world = await openWorld();
beforeEach(async () => {
  await world.services.sql`delete from pgboss.job where name = 'delivery.attempt'`;
});

async function send(): Promise<void> {
  const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
  await invoke(world.as(world.workspace_id), sendMessage, mail);
}

async function fetchOne(): Promise<DeliveryJob> {
  const [job] = await world.services.jobs.fetch('delivery.attempt', 1);
  if (!job) throw new Error('nothing was fetched');
  return job;
}

async function isLeased({ data }: DeliveryJob): Promise<boolean> {
  const rows = await world.services.sql`
    select from recipients where id = ${data.recipient_id} and state = 'sending' and lease_until > clock_now()`;
  return rows.length === 1;
}

describe('email held by a worker', () => {
  it('becomes due immediately and loses its lease if its worker does not know about it', async () => {
    await send();
    const job = await fetchOne();
    await claimDeliveries(world.services, [job]);
    await world.clock.advance(QUIET_SECONDS * 1000 + 1000);

    const leased = await isLeased(job);
    const freed = await freeUnknownMail(world.services, () => [], QUIET_SECONDS);

    expect(leased).toBe(true);
    expect(freed).toBe(1);
    expect(await isLeased(job)).toBe(false);
    expect(await fetchOne()).toMatchObject({ id: job.id });
  });

  it('stays claimed if it was claimed after the check began, even after waiting for a connection', async () => {
    const narrow = connect(world.database_url, { max: 1, application_name: 'narrow' });
    const entered = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const busy = narrow.begin(async () => {
      entered.resolve();
      await release.promise;
    });
    await entered.promise;
    const known: string[] = [];
    const look = freeUnknownMail({ ...world.services, sql: narrow }, () => [...known], QUIET_SECONDS);

    await send();
    const job = await fetchOne();
    known.push(job.id);
    await claimDeliveries(world.services, [job]);
    await world.clock.advance(QUIET_SECONDS * 1000 + 1000);
    release.resolve();
    await busy;

    expect(await look).toBe(0);
    expect(await isLeased(job)).toBe(true);
    await narrow.end();
  });

  it('keeps its current claim if only a superseded job is checked', async () => {
    await send();
    const current = await fetchOne();
    await claimDeliveries(world.services, [current]);
    await world.services.sql.begin((tx) => world.services.jobs.send(tx, 'delivery.attempt', [{ data: current.data }]));
    const superseded = await fetchOne();
    await world.clock.advance(QUIET_SECONDS * 1000 + 1000);

    const freed = await freeUnknownMail(world.services, () => [current.id], QUIET_SECONDS);

    expect(freed).toBe(1);
    expect(superseded.id).not.toBe(current.id);
    expect(await isLeased(current)).toBe(true);
  });
});

describe('email still held by a stopped worker', () => {
  // Uses a backend number that no connection has, as if the worker's connection had ended.
  const end = (stopped: boolean) => world.services.sql`
    insert into delivery_workers (worker, noted_at, stopped, ended_per_minute, backend, backend_started_at)
    values (${world.services.jobs.holder}::uuid, clock_now(), ${stopped}, 0, 0, clock_now())
    on conflict (worker) do update set noted_at = excluded.noted_at, stopped = excluded.stopped,
      backend = excluded.backend, backend_started_at = excluded.backend_started_at`;

  it('has its jobs released, but keeps its lease if it was already claimed', async () => {
    await send();
    const job = await fetchOne();
    await claimDeliveries(world.services, [job]);
    await end(true);

    expect(await freeLeftovers(world.services)).toBe(1);
    expect(await isLeased(job)).toBe(true);
    expect(await fetchOne()).toMatchObject({ id: job.id });
  });

  it('stays with a worker that has resumed, or has fetched the email after its last heartbeat', async () => {
    await send();
    const job = await fetchOne();
    await claimDeliveries(world.services, [job]);
    await end(false);
    const of_a_living_one = await freeLeftovers(world.services);
    await end(true);
    await world.services.sql`update delivery_workers set noted_at = noted_at - interval '20 seconds'`;

    expect(of_a_living_one).toBe(0);
    expect(await freeLeftovers(world.services)).toBe(0);
    expect(await isLeased(job)).toBe(true);
  });
});
