import { createWorld, type World } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { invoke } from '../operation/operation.ts';
import { claimDeliveries } from './claim.ts';
import { newWalk, reconcileDeliveries } from './reconcile.ts';

const OVERDUE_MS = 61_000;

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.stop());

async function send(fields: Record<string, unknown> = {}): Promise<string> {
  const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi', ...fields };
  return (await invoke(world.as(world.workspace_id), sendMessage, mail)).id;
}

/** Creates an inconsistency that none of our commits causes: the job is missing, but its recipient is open. */
async function loseJobs(message_ids: readonly string[]): Promise<void> {
  await world.services.sql`
    delete from pgboss.job
    where name = 'delivery.attempt' and id in (select job_id from recipients where message_id = any (${message_ids}))`;
}

async function liveJobs(): Promise<number> {
  const rows = await world.services.sql`
    select from pgboss.job where name = 'delivery.attempt' and state < 'completed'`;
  return rows.length;
}

const alarms = () => world.logged.filter((line) => line.rescued !== undefined);

describe('the reconciler', () => {
  it('finds an overdue open recipient that has no job, and logs an error', async () => {
    const id = await send();
    await loseJobs([id]);
    expect(await reconcileDeliveries(world.services)).toBe(0);
    await world.clock.advance(OVERDUE_MS);

    expect(await reconcileDeliveries(world.services)).toBe(1);

    expect(alarms()).toMatchObject([{ rescued: 1, level: 50 }]);
    await world.drain();
    const [message] = await world.services.sql`select status from messages where id = ${id}`;
    expect(message).toEqual({ status: 'delivered' });
    expect(world.smtp.messages).toHaveLength(1);
  });

  it('finds a dead process’s recipient that has no job, once the lease has expired', async () => {
    const id = await send();
    await claimDeliveries(world.services, await world.services.jobs.fetch('delivery.attempt', 1));
    await loseJobs([id]);
    await world.clock.advance(OVERDUE_MS);
    expect(await reconcileDeliveries(world.services)).toBe(0);
    await world.clock.advance(OVERDUE_MS);

    expect(await reconcileDeliveries(world.services)).toBe(1);

    await world.drain();
    expect(world.smtp.messages).toHaveLength(1);
  });

  it('finds nothing in normal states: due, late, scheduled, deferred, in flight or done', async () => {
    world.smtp.script(({ to }) =>
      to === 'later@example.com' ? { kind: 'reply', code: 451, text: '4.3.0 later' } : { kind: 'accept' },
    );
    await send({ to: ['done@example.com', 'later@example.com'] });
    await world.drain();
    await send({ scheduled_at: new Date(world.clock.now() + 3_600_000).toISOString() });
    await send({ to: 'flying@example.com' });
    await claimDeliveries(world.services, await world.services.jobs.fetch('delivery.attempt', 1));
    await send({ to: 'late@example.com' });

    for (let round = 0; round < 3; round++) {
      expect(await reconcileDeliveries(world.services)).toBe(0);
      await world.clock.advance(OVERDUE_MS);
    }

    expect(alarms()).toEqual([]);
  });

  it('gives each orphan one job when two reconcilers run concurrently', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 20; count++) ids.push(await send());
    await loseJobs(ids);
    await world.clock.advance(OVERDUE_MS);

    const rescued = await Promise.all([1, 2, 3].map(() => reconcileDeliveries(world.services)));

    expect(rescued.reduce((sum, count) => sum + count)).toBe(20);
    expect(await liveJobs()).toBe(20);
    await world.drain();
    expect(world.smtp.messages).toHaveLength(20);
  });

  it('skips a recipient claimed between detection and rescue', async () => {
    const id = await send();
    await loseJobs([id]);
    await world.clock.advance(OVERDUE_MS);
    const [data] = await world.services.sql<{ workspace_id: string; message_id: string; recipient_id: string }[]>`
      select workspace_id, message_id, id as recipient_id from recipients`;
    if (!data) throw new Error('no recipient');

    await world.services.sql.begin(async (tx) => {
      await tx`update recipients set lease = gen_random_uuid(), lease_until = clock_now() + interval '30 seconds', state = 'sending'`;
      // The claim is not committed yet, so the read still finds the recipient; the rescue skips the locked row.
      expect(await reconcileDeliveries(world.services)).toBe(0);
    });

    expect(await reconcileDeliveries(world.services)).toBe(0);
  });

  it('finds an orphan behind many late recipients that have jobs', async () => {
    const to = Array.from({ length: 50 }, (_, index) => `to${index}@example.com`);
    const at = new Date(world.clock.now() + 60_000).toISOString();
    for (let count = 0; count < 50; count++) await send({ to, scheduled_at: at });
    await world.clock.advance(90_000);
    const orphan = await send({ to: 'orphan@example.com' });
    await loseJobs([orphan]);
    await world.clock.advance(OVERDUE_MS);

    expect(await reconcileDeliveries(world.services)).toBe(1);

    const [row] = await world.services.sql`
      select state from pgboss.job where id = (select job_id from recipients where message_id = ${orphan})`;
    expect(row).toEqual({ state: 'created' });
    expect(await liveJobs()).toBe(2501);
  });

  it('reaches an orphan beyond the row limit in later runs, and then wraps around', async () => {
    const walk = newWalk(2, 2);
    const run = () => reconcileDeliveries(world.services, walk);
    for (let count = 0; count < 9; count++) await send();
    const cursor = await send({ to: 'behind@example.com' });
    await loseJobs([cursor]);
    await world.clock.advance(OVERDUE_MS);

    expect([await run(), await run(), await run()]).toEqual([0, 0, 1]);

    await world.services.sql`delete from pgboss.job where name = 'delivery.attempt'`;
    expect([await run(), await run(), await run()]).toEqual([4, 4, 2]);
  });
});
