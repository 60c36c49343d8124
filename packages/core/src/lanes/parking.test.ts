import type { Job } from '@postrider/queue';
import { createWorld, type World } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { reconcileDeliveries } from '../delivery/index.ts';
import { invoke } from '../operation/operation.ts';
import { closeLane, syncLanes } from './closing-store.ts';
import { countAgainstLimits } from './limit-store.ts';
import { parkDeliveries, parkedJobs, resumeParked } from './parking-store.ts';

const LANE = 'example.com';
const MINUTE_MS = 60_000;

type DeliveryJob = Job<{ workspace_id: string; message_id: string; recipient_id: string }>;

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.stop());

async function send(to: string | readonly string[], workspace_id = world.workspace_id, from = 'hello@sandbox.test') {
  const mail = { from, to, subject: 'Hello', text: 'Hi' };
  return (await invoke(world.as(workspace_id), sendMessage, mail)).id;
}

const fetchAll = () => world.services.jobs.fetch('delivery.attempt', 1000);

/** Parks fetched jobs in order of their due times. */
async function park(jobs: readonly DeliveryJob[], lane = LANE): Promise<number> {
  const due = world.clock.now() - MINUTE_MS;
  return parkDeliveries(
    world.services,
    jobs.map((job, index) => ({ ...job.data, job, lane, priority: 'normal' as const, due_at: new Date(due + index) })),
  );
}

async function resume(count: number, after = ''): Promise<string[]> {
  const rows = await resumeParked(world.services, [{ lane: LANE, priority: 'normal', count, after }]);
  return rows.map((row) => row.email);
}

const jobStates = async () => {
  const rows = await world.services.sql<{ state: string; count: number }[]>`
    select state::text, count(*)::int as count from pgboss.job where name = 'delivery.attempt' group by state`;
  return Object.fromEntries(rows.map((row) => [row.state, row.count]));
};
const parkedCount = async () => (await world.services.sql`select from parked_deliveries`).length;
const names = (count: number, name = 'to') => Array.from({ length: count }, (_, index) => `${name}${index}@${LANE}`);

describe('parking email', () => {
  it('removes the job from the queue and leaves its recipient unchanged', async () => {
    await send(names(3));
    const before = await world.services.sql`select * from recipients order by id`;

    expect(await park(await fetchAll())).toBe(3);

    expect(await jobStates()).toEqual({});
    expect(await world.services.sql`select * from recipients order by id`).toEqual(before);
  });

  it('does not affect a job that another worker has since fetched', async () => {
    await send(names(1));
    const rest = await fetchAll();
    await world.services.sql`update pgboss.job set retry_count = 1 where name = 'delivery.attempt'`;

    expect(await park(rest)).toBe(0);

    expect(await jobStates()).toEqual({ active: 1 });
    expect(await parkedCount()).toBe(0);
  });

  it('does not affect a job that is already parked', async () => {
    await send(names(2));
    const jobs = await fetchAll();

    expect(await Promise.all([park(jobs), park(jobs)]).then((counts) => counts.sort())).toEqual([0, 2]);

    expect(await parkedCount()).toBe(2);
  });

  it('chaos C14: does not deadlock with processes that lock the same jobs in a different order', async () => {
    for (let round = 0; round < 10; round++) {
      await send(names(40, `round${round}-`));
      const jobs = await fetchAll();
      const counts = await Promise.all([
        park(jobs),
        park(jobs.toReversed()),
        park(jobs.slice(7)),
        park(jobs.toReversed()),
      ]);

      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(40);
    }
  });
});

describe('a lane scan', () => {
  it('returns all of a lane’s priorities, however few lanes fit on a page', async () => {
    await send(names(7));
    const jobs = await fetchAll();
    const lanes = { a: ['high'], b: ['high', 'normal', 'bulk'], c: ['bulk'], d: ['normal', 'bulk'] } as const;
    const places = Object.entries(lanes).flatMap(([lane, priorities]) =>
      priorities.map((priority) => ({ lane, priority })),
    );
    await parkDeliveries(
      world.services,
      jobs.map((job, index) => {
        const place = places[index] ?? { lane: 'a', priority: 'high' };
        return { ...job.data, job, ...place, due_at: new Date(world.clock.now()) };
      }),
    );

    const pages: Record<string, readonly string[]>[] = [];
    for (let after = '', has_more = true; has_more; ) {
      const rows = (await syncLanes(world.services.sql, after, 1)).filter(({ parked }) => parked.length > 0);
      has_more = rows.length > 0;
      after = rows.at(-1)?.lane ?? '';
      if (has_more) pages.push(Object.fromEntries(rows.map(({ lane, parked }) => [lane, parked.toSorted()])));
    }

    expect(pages).toEqual(Object.entries(lanes).map(([lane, priorities]) => ({ [lane]: priorities.toSorted() })));
  });
});

describe('unparking email', () => {
  it('returns the email that has been due longest, as if it had just been fetched', async () => {
    await send(names(5));
    const jobs = await fetchAll();
    const order = new Map(jobs.map((job, index) => [job.data.recipient_id, index]));
    await park(jobs);

    const rows = await resumeParked(world.services, [{ lane: LANE, priority: 'normal', count: 2, after: '' }]);

    expect(rows.map((row) => order.get(row.recipient_id))).toEqual([0, 1]);
    expect(await jobStates()).toEqual({ active: 2 });
    expect(await fetchAll()).toEqual([]);
    expect(await parkedCount()).toBe(3);
    const ids = rows.map((row) => row.job_id);
    expect(await world.services.jobs.withoutLiveJob(world.services.sql, 'delivery.attempt', ids)).toEqual([]);
  });

  it('divides a batch among workspaces, and resumes after the workspace served last', async () => {
    const other = await world.workspace('business');
    await world.domain('other.test', other.workspace_id);
    await send(names(20));
    await park(await fetchAll());
    await send(names(3, 'other'), other.workspace_id, 'hello@other.test');
    await park(await fetchAll());

    const slice = await resume(6);

    expect(slice.filter((email) => email.startsWith('other'))).toHaveLength(3);
    expect(slice).toHaveLength(6);
    const last = [world.workspace_id, other.workspace_id].sort()[1] ?? '';
    expect(await resume(6, last)).toEqual([]);
  });

  it('gives two workers different emails', async () => {
    await send(names(40));
    await park(await fetchAll());

    const slices = await Promise.all([1, 2, 3, 4].map(() => resume(10)));

    const all = slices.flat();
    expect(new Set(all).size).toBe(all.length);
    expect(all.length + (await parkedCount())).toBe(40);
    expect(await jobStates()).toEqual({ active: all.length });
  });

  it('skips email that has since been closed or given another job', async () => {
    const ids = [await send('one@example.com'), await send('two@example.com'), await send('three@example.com')];
    await park(await fetchAll());
    await world.services.sql`update recipients set state = 'canceled' where message_id = ${ids[0] ?? ''}`;
    await world.services.sql`update recipients set job_id = gen_random_uuid() where message_id = ${ids[1] ?? ''}`;

    expect(await resume(10)).toEqual(['three@example.com']);

    expect(await parkedCount()).toBe(0);
    expect(await jobStates()).toEqual({ active: 1 });
  });

  it('is undone by the queue’s heartbeat check if the worker dies right afterward', async () => {
    await send(names(2));
    await park(await fetchAll());
    await resume(2);

    const rows = await world.services.sql<{ heartbeat: boolean; expires: boolean; retries: number }[]>`
      select heartbeat_on + heartbeat_seconds * interval '1 second' > pgboss.job_now() as heartbeat,
        started_on is not null as expires, retry_limit - retry_count as retries
      from pgboss.job where name = 'delivery.attempt'`;

    expect(rows).toEqual([
      { heartbeat: true, expires: true, retries: 1000 },
      { heartbeat: true, expires: true, retries: 1000 },
    ]);
  });
});

describe('the reconciler', () => {
  it('skips parked email while its lane is closed or a worker is handling it', async () => {
    await send(names(3));
    await park(await fetchAll());
    await closeLane(world.services.sql, { lane: LANE, seconds: 300, closings: 1, last_reply: '421 busy' });
    await world.clock.advance(4 * MINUTE_MS);
    expect(await reconcileDeliveries(world.services)).toBe(0);

    await world.clock.advance(2 * MINUTE_MS);
    await syncLanes(world.services.sql);
    expect(await reconcileDeliveries(world.services)).toBe(0);

    expect(await parkedCount()).toBe(3);
  });

  it('finds parked email in an open lane without a worker, raises an alarm, and loses none', async () => {
    await send(names(3));
    await park(await fetchAll());
    await world.clock.advance(2 * MINUTE_MS);

    expect(await reconcileDeliveries(world.services)).toBe(3);

    expect(world.logged.filter((line) => line.rescued !== undefined)).toMatchObject([{ rescued: 3, level: 50 }]);
    await world.drain();
    expect(world.smtp.messages).toHaveLength(3);
    expect(await parkedCount()).toBe(0);
  });

  it('distinguishes a parked job from a lost one', async () => {
    await send(names(2));
    const jobs = await fetchAll();
    await park(jobs.slice(0, 1));

    const known = jobs.map((job) => job.id);

    expect(await parkedJobs(world.services.sql, known)).toEqual(new Set(known.slice(0, 1)));
  });
});

describe('a lane’s per-minute limit', () => {
  it('grants exactly the limit to any number of concurrent workers', async () => {
    await world.services.sql`
      insert into destination_limits (destination, messages_per_minute, changed_at) values (${LANE}, 100, clock_now())`;
    await world.clock.freeze(new Date(Date.UTC(2030, 0, 1, 12, 0, 30)));

    const granted = await Promise.all(
      Array.from({ length: 20 }, () => countAgainstLimits(world.services.sql, [{ destination: LANE, count: 7 }])),
    );

    expect(granted.reduce((sum, one) => sum + (one.get(LANE) ?? 0), 0)).toBe(100);
    const [lane] = await world.services.sql`select closed_until, reason from lanes where lane = ${LANE}`;
    expect(lane).toEqual({ closed_until: new Date(Date.UTC(2030, 0, 1, 12, 1)), reason: 'limit' });
  });
});
