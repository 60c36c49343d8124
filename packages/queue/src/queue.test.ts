import { randomUUID } from 'node:crypto';
import { connect, type Sql } from '@postrider/db';
import { createDatabase, createTestClock, type TestDatabase } from '@postrider/testing';
import { PgBoss } from 'pg-boss';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { installQueue } from './install.ts';
import { createQueue, type Queue } from './queue.ts';

const options = { retry_limit: 1000, retry_delay_seconds: 0, expire_seconds: 900, heartbeat_seconds: 30 };
const catalogue = {
  'parcel.carry': { payload: z.object({ parcel: z.number() }), options: { ...options, sql_function: 'carry_parcels' } },
  'parcel.weigh': { payload: z.object({}), options: { ...options, cron: '7 * * * *' } },
} as const;

let database: TestDatabase;
let sql: Sql;
let queue: Queue<typeof catalogue>;
const faults: unknown[] = [];
const queues: Queue<typeof catalogue>[] = [];

async function startQueue(): Promise<Queue<typeof catalogue>> {
  const started = createQueue({
    sql,
    url: database.url,
    catalogue,
    application_name: 'queue-test',
    max_connections: 2,
    supervise: false,
    on_error: (error) => faults.push(error),
  });
  await started.start();
  queues.push(started);
  return started;
}

beforeAll(async () => {
  database = await createDatabase();
  sql = connect(database.url, { max: 6, application_name: 'queue-test' });
  await installQueue(database.url, catalogue);
  queue = await startQueue();
});
afterAll(async () => {
  for (const one of queues) await one.stop();
  await sql.end();
  await database.drop();
});
beforeEach(async () => {
  await sql`delete from pgboss.job where name = 'parcel.carry'`;
});
afterEach(() => {
  expect(faults.splice(0)).toEqual([]);
});

const send = (parcels: readonly { parcel: number; id?: string; start_after?: Date }[]) =>
  sql.begin((tx) =>
    queue.send(
      tx,
      'parcel.carry',
      parcels.map(({ parcel, ...rest }) => ({ data: { parcel }, ...rest })),
    ),
  );

async function states(): Promise<string[]> {
  const rows = await sql<{ state: string }[]>`
    select state::text from pgboss.job where name = 'parcel.carry' order by data->>'parcel'`;
  return rows.map((row) => row.state);
}

describe('send', () => {
  it('leaves no job behind when its transaction is rolled back', async () => {
    const failing = sql.begin(async (tx) => {
      await queue.send(tx, 'parcel.carry', [{ data: { parcel: 1 } }, { data: { parcel: 2 } }]);
      throw new Error('changed its mind');
    });
    await expect(failing).rejects.toThrow('changed its mind');

    expect(await states()).toEqual([]);
    expect(await queue.fetch('parcel.carry', 10)).toEqual([]);
  });

  it('hides a job until its transaction has committed', async () => {
    await sql.begin(async (tx) => {
      await queue.send(tx, 'parcel.carry', [{ data: { parcel: 1 } }]);
      expect(await queue.fetch('parcel.carry', 10)).toEqual([]);
    });

    expect(await queue.fetch('parcel.carry', 10)).toMatchObject([{ data: { parcel: 1 }, retry_count: 0 }]);
  });

  it('rejects a duplicate id, because a job that is not stored would mean a lost email', async () => {
    const id = randomUUID();
    await send([{ parcel: 1, id }]);

    await expect(send([{ parcel: 2, id }])).rejects.toThrow();

    expect(await states()).toEqual(['created']);
  });

  it('hides a job until it is due by the database clock', async () => {
    const clock = createTestClock(sql);
    await clock.freeze(new Date('2031-03-01T12:00:00Z'));
    await send([{ parcel: 1, start_after: new Date('2031-03-01T13:00:00Z') }]);
    expect(await queue.fetch('parcel.carry', 10)).toEqual([]);

    await clock.advance(3_600_000);

    expect(await queue.fetch('parcel.carry', 10)).toHaveLength(1);
    await clock.unfreeze();
  });
});

describe('fetch', () => {
  it('gives each job to only one of many concurrent fetches', async () => {
    await send(Array.from({ length: 60 }, (_, parcel) => ({ parcel })));
    const other = await startQueue();

    const fetched = await Promise.all([1, 2, 3].map((n) => (n % 2 ? queue : other).fetch('parcel.carry', 40)));

    const parcels = fetched.flat().map((job) => job.data.parcel);
    expect(new Set(parcels).size).toBe(parcels.length);
    expect(parcels).toHaveLength(60);
  });

  it('cancels and reports a job with an unreadable payload, and returns the other jobs', async () => {
    const ids = [randomUUID(), randomUUID()] as const;
    await send([
      { parcel: 1, id: ids[0] },
      { parcel: 2, id: ids[1] },
    ]);
    await sql`update pgboss.job set data = '{"parcel": "none"}' where id = ${ids[0]}`;

    const fetched = await queue.fetch('parcel.carry', 10);

    expect(fetched.map((job) => job.id)).toEqual([ids[1]]);
    expect(faults.splice(0)).toMatchObject([{ message: expect.stringContaining(ids[0]) }]);
    expect(await queue.withoutLiveJob(sql, 'parcel.carry', ids)).toEqual([ids[0]]);
  });
});

describe('the custom fetch', () => {
  const rowOf = async (id: string) => {
    const [row] = await sql<Record<string, unknown>[]>`select * from pgboss.job where id = ${id}`;
    return row ?? {};
  };
  /** A fetch sets the times of its transaction, so the test can only compare whether they are set. */
  const timeless = ({
    id,
    created_on,
    start_after,
    keep_until,
    started_on,
    heartbeat_on,
    ...rest
  }: Record<string, unknown>) => ({
    ...rest,
    fetched: started_on instanceof Date && heartbeat_on instanceof Date,
  });

  it('changes a row exactly as pg-boss does, on the first fetch and after a failure', async () => {
    const pg_boss = new PgBoss({ connectionString: database.url, schema: 'pgboss', migrate: false, supervise: false });
    await pg_boss.start();
    const [ours, theirs] = [randomUUID(), randomUUID()];
    await send([{ parcel: 7, id: ours }]);
    await queue.fetch('parcel.carry', 1);
    await send([{ parcel: 7, id: theirs }]);
    await pg_boss.fetch('parcel.carry');
    const first = [await rowOf(ours), await rowOf(theirs)].map(timeless);

    await sql`update pgboss.job set state = 'retry' where id = ${ours}`;
    await queue.fetch('parcel.carry', 1);
    await sql`update pgboss.job set state = 'retry' where id = ${theirs}`;
    await pg_boss.fetch('parcel.carry');
    const second = [await rowOf(ours), await rowOf(theirs)].map(timeless);

    expect(first[0]).toMatchObject({ state: 'active', retry_count: 0, fetched: true });
    expect(first[0]).toEqual({ ...first[1], source_id: queue.holder });
    expect(second[0]).toMatchObject({ state: 'active', retry_count: 1, fetched: true });
    expect(second[0]).toEqual({ ...second[1], source_id: queue.holder });
    await pg_boss.stop({ graceful: false });
  });

  it('returns the oldest jobs with the highest priority, and no blocked or deferred jobs', async () => {
    const ids = Array.from({ length: 4 }, () => randomUUID());
    for (const [parcel, id] of ids.entries()) await send([{ parcel, id }]);
    const [first, second, urgent, blocked] = ids;
    await sql`update pgboss.job set priority = 5 where id = ${urgent ?? ''}`;
    await sql`update pgboss.job set blocked = true where id = ${blocked ?? ''}`;
    await send([{ parcel: 9, start_after: new Date('2099-01-01T00:00:00Z') }]);

    const order: string[] = [];
    for (let turn = 0; turn < 4; turn++) order.push(...(await queue.fetch('parcel.carry', 1)).map(({ id }) => id));

    expect(order).toEqual([urgent, first, second]);
  });

  it('returns only recently created jobs on request, and all jobs otherwise', async () => {
    const [old, recent] = [randomUUID(), randomUUID()];
    await send([
      { parcel: 1, id: old },
      { parcel: 2, id: recent },
    ]);
    await sql`update pgboss.job set created_on = created_on - interval '1 minute' where id = ${old}`;
    const [{ created_on } = { created_on: null }] = await sql<
      { created_on: Date }[]
    >`select created_on from pgboss.job where id = ${recent}`;
    const look = (created_after: Date | null) => sql<{ id: string; retry_count: number; data: unknown }[]>`
      with taken as (${queue.acquisition(sql, 'parcel.carry', [{ priority: 0, count: 10, created_after }])}) select id, retry_count, data from taken`;

    const lately = await queue.acquired('parcel.carry', await look(created_on));
    const all = await queue.acquired('parcel.carry', await look(null));

    expect(lately.map(({ job }) => job.id)).toEqual([recent]);
    expect(all.map(({ job }) => job.id)).toEqual([old]);
  });
});

// A prepared statement reuses its plan, and the first plans are made before there are any jobs.
describe('a statement planned while the queue was empty', () => {
  const JOBS = 5000;
  /**
   * Returns the entries of each index that a statement has read since its first plan, by the suffix of the index name.
   */
  async function entriesRead(own: Sql, table: string, statement: () => Promise<unknown>): Promise<Map<string, number>> {
    const read = async () => {
      await own`select pg_stat_force_next_flush()`;
      const rows = await own<{ name: string; read: number }[]>`
        select right(indexrelname, -length(relname) - 1) as name, idx_tup_read::int8 as read
        from pg_stat_user_indexes where schemaname = 'pgboss' and relname = ${table}`;
      return new Map(rows.map((row) => [row.name, row.read]));
    };
    const before = await read();
    await statement();
    const after = await read();
    return new Map([...after].map(([name, count]) => [name, count - (before.get(name) ?? 0)]));
  }

  it.each(['vacuumed', 'vacuumed and planned with a few', 'never analysed'])(
    'reads only the rows it fetches as the queue grows, %s',
    async (state) => {
      const fresh = await createDatabase();
      await installQueue(fresh.url, catalogue);
      const own = connect(fresh.url, { max: 1, application_name: 'queue-test' });
      const [{ table } = { table: '' }] = await own<
        { table: string }[]
      >`select table_name as table from pgboss.queue where name = 'parcel.carry'`;
      await own`alter table ${own(`pgboss.${table}`)} set (autovacuum_enabled = false)`;
      if (state !== 'never analysed') await own`vacuum analyze ${own(`pgboss.${table}`)}`;
      const growing = createQueue({
        sql: own,
        url: fresh.url,
        catalogue,
        application_name: 'queue-test',
        max_connections: 1,
        supervise: false,
        on_error: (error) => faults.push(error),
      });
      await growing.start();
      const complete = (jobs: readonly { id: string; retry_count: number }[]) =>
        own.begin((tx) => growing.complete(tx, 'parcel.carry', jobs));
      const created_after = new Date('2020-01-01T00:00:00Z');
      const recentRows = () => own<{ id: string; retry_count: number; data: unknown }[]>`
      with taken as (${growing.acquisition(own, 'parcel.carry', [{ priority: 0, count: 100, created_after }])}) select id, retry_count, data from taken`;
      const walk = async () => {
        const first = await growing.fetch('parcel.carry', 100);
        const second = await growing.acquired('parcel.carry', await recentRows());
        const all_jobs = [...first, ...second.map(({ job }) => job)];
        await growing.withoutLiveJob(
          own,
          'parcel.carry',
          all_jobs.map(({ id }) => id),
        );
        await complete(all_jobs);
        return all_jobs.length;
      };
      const fill = (count: number) =>
        own.begin((tx) =>
          growing.send(
            tx,
            'parcel.carry',
            Array.from({ length: count }, (_, parcel) => ({ data: { parcel } })),
          ),
        );
      if (state === 'vacuumed and planned with a few') {
        await fill(300);
        const [server] = await own<{ skips: boolean }[]>`
          select current_setting('server_version_num')::int >= 180000 as skips`;
        // Before version 18, a plan uses the smaller index of name and time as long as it assumes there are only a few
        // jobs.
        if (server?.skips === false) await own`analyze ${own(`pgboss.${table}`)}`;
      }
      await walk();
      await complete([{ id: randomUUID(), retry_count: 0 }]);
      await growing.withoutLiveJob(own, 'parcel.carry', [randomUUID()]);
      await fill(JOBS);

      let fetched = 0;
      const read = await entriesRead(own, table, async () => {
        for (let turn = 0; turn < 3; turn++) fetched += await walk();
      });

      expect(fetched).toBe(600);
      // A fetch may pass jobs taken by earlier fetches, and each job has the dead entry left by its fetch.
      expect(read.get('i11')).toBeLessThan(10 * fetched);
      expect(read.get('pkey')).toBeLessThan(10 * fetched);
      const other = [...read].filter(([name, count]) => name !== 'i11' && name !== 'pkey' && count > 0);
      expect(other).toEqual([]);
      await growing.stop();
      // The server may end the sessions of the queue after that, and dropping the database would cut them off.
      const others = () => own`
        select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
          and backend_type = 'client backend'`;
      await expect.poll(others).toEqual([]);
      await own.end();
      await fresh.drop();
    },
  );
});

describe('complete and touch', () => {
  it('settle the fetched attempt, but no later attempt at the same job', async () => {
    await send([{ parcel: 1 }]);
    const [stale] = await queue.fetch('parcel.carry', 1);
    await sql`update pgboss.job set state = 'retry' where name = 'parcel.carry'`;
    const [current] = await queue.fetch('parcel.carry', 1);
    if (!stale || !current) throw new Error('nothing was fetched');
    expect([stale.retry_count, current.retry_count]).toEqual([0, 1]);

    await sql.begin((tx) => queue.complete(tx, 'parcel.carry', [stale]));
    expect(await states()).toEqual(['active']);
    await sql.begin((tx) => queue.complete(tx, 'parcel.carry', [current]));

    expect(await states()).toEqual([]);
  });

  it('are rolled back with their transaction', async () => {
    await send([{ parcel: 1 }]);
    const jobs = await queue.fetch('parcel.carry', 1);
    const failing = sql.begin(async (tx) => {
      await queue.complete(tx, 'parcel.carry', jobs);
      throw new Error('changed its mind');
    });
    await expect(failing).rejects.toThrow();

    expect(await states()).toEqual(['active']);
  });

  it('refresh only the fetched attempt’s heartbeat', async () => {
    await send([{ parcel: 1 }]);
    const [stale] = await queue.fetch('parcel.carry', 1);
    if (!stale) throw new Error('nothing was fetched');
    await sql`update pgboss.job set heartbeat_on = '2020-01-01', retry_count = 1 where name = 'parcel.carry'`;
    const beat = async () => {
      const [row] = await sql<
        { heartbeat_on: Date }[]
      >`select heartbeat_on from pgboss.job where name = 'parcel.carry'`;
      return row?.heartbeat_on.getUTCFullYear();
    };

    await queue.touch('parcel.carry', [stale]);
    expect(await beat()).toBe(2020);
    await queue.touch('parcel.carry', [{ ...stale, retry_count: 1 }]);

    expect(await beat()).toBeGreaterThan(2020);
  });
});

describe('work', () => {
  it('returns unfinished jobs to the queue after the timeout, without using up a retry', async () => {
    await send([{ parcel: 1 }]);
    const { promise: start, resolve: begin } = Promise.withResolvers<void>();
    const { promise: done, resolve: end } = Promise.withResolvers<void>();
    const handler = () => {
      begin();
      return done;
    };
    const remaining = async () => {
      const [row] = await sql<{ left: number; state: string }[]>`
        select retry_limit - retry_count as left, state from pgboss.job where name = 'parcel.carry'`;
      return row;
    };
    const work = queue.work('parcel.carry', { handler, concurrency: () => 1 });
    await start;
    const before = await remaining();

    await work.stop();
    const [next_job] = await queue.fetch('parcel.carry', 1);
    end();
    await done;

    expect(before).toEqual({ left: 1000, state: 'active' });
    expect(next_job).toMatchObject({ data: { parcel: 1 }, retry_count: 1 });
    expect(await remaining()).toEqual(before);
  });
});

describe('withoutLiveJob', () => {
  it('returns the ids that have no waiting or running job', async () => {
    const ids = Array.from({ length: 4 }, () => randomUUID());
    const [waiting = '', running = '', done = '', absent = ''] = ids;
    await send([{ parcel: 1, id: running }]);
    await queue.fetch('parcel.carry', 1);
    await send([{ parcel: 2, id: done }]);
    const jobs = await queue.fetch('parcel.carry', 1);
    await sql.begin((tx) => queue.complete(tx, 'parcel.carry', jobs));
    await send([{ parcel: 3, id: waiting }]);

    const without = await queue.withoutLiveJob(sql, 'parcel.carry', ids);

    expect(without.sort()).toEqual([done, absent].sort());
    expect(await queue.withoutLiveJob(sql, 'parcel.carry', [])).toEqual([]);
  });
});

describe('wake', () => {
  it('notifies the listeners for its queue in every process', async () => {
    const other = await startQueue();
    await other.listen();
    const notifications: string[] = [];
    const woken = Promise.withResolvers<void>();
    const silence = other.onWake('parcel.weigh', () => notifications.push('parcel.weigh'));
    other.onWake('parcel.carry', () => {
      notifications.push('parcel.carry');
      woken.resolve();
    });
    queue.onWake('parcel.carry', () => notifications.push('own'));

    queue.wakeAll('parcel.carry');
    expect(notifications).toEqual(['own']);
    await woken.promise;

    expect(notifications).toEqual(['own', 'parcel.carry']);
    silence();
  });

  it('notifies every process of a transaction that commits, and of none that is rolled back', async () => {
    const other = await startQueue();
    await other.listen();
    const notifications: string[] = [];
    const woken = Promise.withResolvers<void>();
    other.onWake('parcel.weigh', () => notifications.push('rolled back'));
    other.onWake('parcel.carry', () => {
      notifications.push('committed');
      woken.resolve();
    });

    await expect(
      sql.begin(async (tx) => {
        await tx`select ${queue.wakeOnCommit(tx, 'parcel.weigh')}`;
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    await sql.begin((tx) => tx`select ${queue.wakeOnCommit(tx, 'parcel.carry')}`);
    await woken.promise;

    expect(notifications).toEqual(['committed']);
  });

  it('may be claimed once every 5 ms, and not while a wake waits', async () => {
    const started = performance.now();
    let count = 0;
    while (performance.now() - started < 50) if (queue.claimWake()) count++;
    const elapsed_ms = performance.now() - started;
    queue.wakeAll('parcel.carry');

    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThanOrEqual(elapsed_ms / 5 + 1);
    await expect.poll(() => queue.claimWake()).toBe(true);
  });
});

describe('installQueue', () => {
  it('can be repeated, even concurrently, without changing jobs or settings', async () => {
    await send([{ parcel: 1 }]);
    const settings = () =>
      sql`select name, retry_limit, retry_delay, expire_seconds, heartbeat_seconds, retention_seconds, table_name
        from pgboss.queue where name like 'parcel.%' order by name`;
    const before = [...(await settings())];

    await Promise.all([installQueue(database.url, catalogue), installQueue(database.url, catalogue)]);

    expect([...(await settings())]).toEqual(before);
    expect(before).toMatchObject([{ retry_limit: 1000, heartbeat_seconds: 30 }, {}]);
    expect(await states()).toEqual(['created']);
    expect(await sql`select from pgboss.schedule where name = 'parcel.weigh'`).toHaveLength(1);
  });

  it('applies settings changed in a later release', async () => {
    const changed = {
      ...catalogue,
      'parcel.carry': { ...catalogue['parcel.carry'], options: { ...options, retry_limit: 7 } },
    };

    await installQueue(database.url, changed);

    expect([...(await sql`select retry_limit from pgboss.queue where name = 'parcel.carry'`)]).toEqual([
      { retry_limit: 7 },
    ]);
    await installQueue(database.url, catalogue);
  });

  it('sets up an empty database during two concurrent startups', async () => {
    const fresh = await createDatabase();
    const own = connect(fresh.url, { max: 1, application_name: 'queue-test' });
    await own`drop schema pgboss cascade`;

    await Promise.all([installQueue(fresh.url, catalogue), installQueue(fresh.url, catalogue)]);

    expect(await own`select from pgboss.queue where name like 'parcel.%'`).toHaveLength(2);
    await own.end();
    await fresh.drop();
  });
});

describe('withdrawal and restoration of jobs', () => {
  const rowOf = async (id: string) => {
    const [row] = await sql`select * from pgboss.job where id = ${id}`;
    const { created_on, start_after, started_on, heartbeat_on, keep_until, ...rest } = row ?? {};
    return {
      ...rest,
      times: [created_on, start_after, started_on, heartbeat_on, keep_until].map((time) => time !== null),
    };
  };
  const withdraw = (jobs: readonly { id: string; retry_count: number }[]) => sql<{ id: string }[]>`
    with gone as (${queue.withdrawal(sql, 'parcel.carry', jobs)}) select id from gone`;
  const resume = (id: string) => sql`
    ${queue.resumption(sql, 'parcel.carry', sql`select ${id}::uuid as id, '{"parcel": 7}'::jsonb as data, 0 as priority`)}`;

  it('delete a job, and restore it as if it had just been fetched', async () => {
    const id = randomUUID();
    await send([{ parcel: 7, id }]);
    const jobs = await queue.fetch('parcel.carry', 1);
    const fetched = await rowOf(id);

    expect(await withdraw(jobs)).toEqual([{ id }]);
    expect(await queue.withoutLiveJob(sql, 'parcel.carry', [id])).toEqual([id]);
    await resume(id);

    expect(await rowOf(id)).toEqual(fetched);
    await sql.begin((tx) => queue.complete(tx, 'parcel.carry', jobs));
    expect(await sql`select from pgboss.job where id = ${id}`).toHaveLength(0);
  });

  it('skip a job that has since been fetched again, or is already restored', async () => {
    const id = randomUUID();
    await send([{ parcel: 7, id }]);
    const [job] = await queue.fetch('parcel.carry', 1);
    await sql`update pgboss.job set retry_count = 1 where id = ${id}`;

    expect(await withdraw(job ? [job] : [])).toEqual([]);
    await resume(id);

    expect(await rowOf(id)).toMatchObject({ state: 'active', retry_count: 1 });
  });
});

describe('the trigger function', () => {
  it('adds the same jobs as send, in the calling transaction', async () => {
    await sql
      .begin(async (tx) => {
        await tx`select carry_parcels(array['{"parcel":7}'::jsonb])`;
        throw new Error('changed its mind');
      })
      .catch(() => undefined);
    expect(await states()).toEqual([]);

    await sql.begin(async (tx) => {
      await queue.send(tx, 'parcel.carry', [{ data: { parcel: 1 } }]);
      await tx`select carry_parcels(array['{"parcel":2}'::jsonb, '{"parcel":3}'::jsonb])`;
    });

    const rows = await sql<{ row: object }[]>`
      select distinct to_jsonb(j) - 'id' - 'data' as row from pgboss.job j where name = 'parcel.carry'`;
    expect(rows).toHaveLength(1);
    const fetched = await queue.fetch('parcel.carry', 10);
    expect(fetched.map(({ data }) => data.parcel).sort()).toEqual([1, 2, 3]);
  });
});

describe('liveAbout', () => {
  it('returns the values for which a job is waiting or running', async () => {
    await send([{ parcel: 1 }, { parcel: 2, start_after: new Date('2099-01-01T00:00:00Z') }]);
    await queue.fetch('parcel.carry', 1);

    expect(await queue.liveAbout(sql, 'parcel.carry', 'parcel', ['1', '2', '3'])).toEqual(new Set(['1', '2']));
  });
});
