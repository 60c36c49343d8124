import { randomUUID } from 'node:crypto';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { newId } from '../fields/ids.ts';
import { cancelMessage, rescheduleMessage } from '../messages/index.ts';
import type { ActorContext } from '../operation/context.ts';
import { invoke } from '../operation/operation.ts';
import type { JobData, JobName } from '../process/jobs.ts';
import { cancelJob } from './cancel-job.ts';
import { getJob } from './get-job.ts';
import { getQueue } from './get-queue.ts';
import { jobId, jobUuid } from './job-id.ts';
import { listJobs } from './list-jobs.ts';
import { listQueues } from './list-queues.ts';
import { listSchedules } from './list-schedules.ts';
import { queueHistory } from './queue-history.ts';
import { queueNames } from './queue-names.ts';
import { redriveQueue } from './redrive-queue.ts';
import { retryJob } from './retry-job.ts';
import { runJobNow } from './run-job-now.ts';
import { addToHistogram, emptyHistogram } from './run-times.ts';
import { setConcurrency } from './set-concurrency.ts';
import { addWork, measureQueues } from './store.ts';

const HOUR_MS = 3_600_000;

const world = await openWorld();
let ctx: ActorContext;
beforeAll(async () => {
  ctx = world.as(world.workspace_id) as ActorContext;
});

const measure = () => measureQueues(world.services.sql, queueNames, 0);

async function addClose(ids: readonly string[], start_after?: Date): Promise<string[]> {
  const jobs = ids.map((webhook_id) => ({
    id: randomUUID(),
    data: { webhook_id },
    ...(start_after && { start_after }),
  }));
  await world.services.sql.begin((tx) => world.services.jobs.send(tx, 'webhook.close', jobs));
  return jobs.map(({ id }) => jobId(id));
}

async function addJob<N extends JobName>(name: N, data: JobData<N>, start_after: Date): Promise<string> {
  const id = randomUUID();
  await world.services.sql.begin((tx) => world.services.jobs.send(tx, name, [{ id, data, start_after }]));
  return jobId(id);
}

async function die(id: string, words = 'it broke'): Promise<void> {
  const uuid = jobUuid(id) ?? '';
  await world.services.sql`
    update pgboss.job set state = 'failed', started_on = pgboss.job_now(), completed_on = pgboss.job_now(), retry_count = 100,
      output = ${JSON.stringify({ name: 'Error', message: words })}::text::jsonb
    where id = ${uuid}`;
}

const stateOf = async (id: string) => (await invoke(ctx, getJob, { id })).state;

async function audited(target_id: string): Promise<string[]> {
  const rows = await world.services.sql<{ action: string }[]>`
    select action from audit_log where workspace_id = no_id()
      and coalesce(target_name, id_text(target_id, target_kind)) = ${target_id} order by sequence`;
  return rows.map(({ action }) => action);
}

async function deferredMail(): Promise<{ job: string; message_id: string; recipient_id: string }> {
  const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
  const { id: message_id } = await invoke(ctx, sendMessage, mail);
  world.smtp.script(() => ({ kind: 'reply', code: 451, text: '4.2.0 later' }));
  await world.drain();
  world.smtp.script(() => ({ kind: 'accept' }));
  const [row] = await world.services.sql<{ id: string; job_id: string; state: string }[]>`
    select id, job_id, state from recipients where message_id = ${message_id}`;
  expect(row?.state).toBe('deferred');
  return { job: jobId(row?.job_id ?? ''), message_id, recipient_id: row?.id ?? '' };
}

describe('a job id', () => {
  it('can be converted from a UUID to letters and back', () => {
    const uuids = [...Array.from({ length: 50 }, () => randomUUID()), 'ffffffff-ffff-ffff-ffff-ffffffffffff'];
    for (const uuid of uuids) expect(jobUuid(jobId(uuid))).toBe(uuid);
  });

  it('has only one valid spelling', () => {
    const id = jobId(randomUUID());
    for (const text of [
      '',
      'job_',
      id.slice(1),
      id.toUpperCase(),
      `${id}0`,
      `job_8${id.slice(5)}`,
      `job_u${id.slice(5)}`,
    ])
      expect(jobUuid(text)).toBeNull();
  });
});

describe('queues.list', () => {
  it('shows every queue with its most recent measurements', async () => {
    await addClose(['whk_a', 'whk_b']);
    await addClose(['whk_c'], new Date(world.clock.now() + HOUR_MS));
    await world.clock.advance(20_000);
    await measure();

    const { data } = await invoke(ctx, listQueues, {});

    expect(data.map(({ name }) => name)).toEqual(queueNames);
    const close = data.find(({ name }) => name === 'webhook.close');
    expect(close).toMatchObject({ ready: 2, deferred: 1, active: 0, dead: 0, workers: [], concurrency: 4 });
    expect(close?.oldest_ready_seconds).toBeGreaterThanOrEqual(20);
    expect(close?.measured_at).not.toBeNull();
    await world.services.sql`delete from pgboss.job where name = 'webhook.close'`;
  });

  it('does not count jobs on read', async () => {
    await measure();
    await addClose(['whk_later']);

    const { ready } = await invoke(ctx, getQueue, { queue: 'webhook.close' });

    expect(ready).toBe(0);
    await world.services.sql`delete from pgboss.job where name = 'webhook.close'`;
  });

  it('shows measurements taken by only one of several concurrent workers', async () => {
    const peer = await world.peer();
    await world.clock.advance(60_000);

    const done = await Promise.all([world.services, peer].map(({ sql }) => measureQueues(sql, queueNames, 9)));

    expect(done.sort()).toEqual([false, true]);
  });

  it('derives rates and wait times from worker records', async () => {
    await world.clock.freeze(new Date(Math.ceil(world.clock.now() / 60_000) * 60_000));
    await world.services.sql`delete from queue_minutes`;
    await measure();
    const wait_bins = emptyHistogram();
    for (let count = 0; count < 99; count++) addToHistogram(wait_bins, 20);
    addToHistogram(wait_bins, 5000);
    await world.clock.advance(120_000);
    const work = { queue: 'webhook.recover', finished: 60, failed: 30, wait_bins, run_bins: wait_bins };
    const note = { ...work, active: 0, concurrency: 4, job_ids: [] };
    await addWork(world.services.sql, null, [note]);
    await addWork(world.services.sql, null, [{ ...note, finished: 0, wait_bins: [] }]);
    await world.clock.advance(60_000);
    await measure();

    const queue = await invoke(ctx, getQueue, { queue: 'webhook.recover' });

    expect(queue).toMatchObject({ out_per_minute: 15, fail_per_minute: 15, in_per_minute: 20, drain_seconds: 0 });
    const [p50, , p99] = queue.wait;
    expect(p50?.seconds).toBeGreaterThan(0.015);
    expect(p50?.seconds).toBeLessThan(0.025);
    expect(p99?.seconds).toBeLessThan(0.025);
    const history = await invoke(ctx, queueHistory, { queue: 'webhook.recover', max_points: 2 });
    expect(history.point_seconds).toBe(1800);
    expect(history.data.reduce((sum, { finished }) => sum + finished, 0)).toBe(60);
    expect(history.data.at(-1)?.wait_p95_seconds).toBeLessThan(0.025);
    await world.clock.unfreeze();
  });

  it('is restricted to operators', async () => {
    const { key_id, workspace_id } = await world.workspace('business');
    const actor = { kind: 'key', workspace_id, key_id, scopes: ['admin'], mode: 'live', domains: null } as const;

    await expect(invoke({ ...ctx, actor }, listQueues, {})).rejects.toMatchObject({ reason: 'missing_scope' });
    await expect(invoke(ctx, getQueue, { queue: 'no.such' })).rejects.toMatchObject({ reason: 'queue_not_found' });
  });
});

describe('jobs.list', () => {
  it('returns each job in a state once, latest first, even if many are due simultaneously', async () => {
    const due = new Date(world.clock.now() + HOUR_MS);
    const ids = await addClose(
      Array.from({ length: 23 }, (_, n) => `whk_${n}`),
      due,
    );

    const all_ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await invoke(ctx, listJobs, { queue: 'webhook.close', state: 'deferred', limit: 5, cursor });
      all_ids.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor);

    expect(all_ids.toSorted()).toEqual(ids.toSorted());
    await world.services.sql`delete from pgboss.job where name = 'webhook.close'`;
  });

  it('filters by state, subject and time across all queues', async () => {
    const webhook_id = newId('webhook', world.clock.now());
    const [dead = '', other = ''] = await addClose([webhook_id, 'whk_other']);
    await die(dead);

    const ids = async (filter: object) => (await invoke(ctx, listJobs, filter)).data.map(({ id }) => id);

    expect(await ids({ state: 'dead' })).toEqual([dead]);
    expect(await ids({ subject: webhook_id })).toEqual([dead]);
    expect((await ids({})).toSorted()).toEqual([dead, other].toSorted());
    expect(await ids({ since: new Date(world.clock.now() + HOUR_MS).toISOString() })).toEqual([]);
    await expect(ids({ subject: 'nonsense' })).rejects.toMatchObject({ reason: 'invalid_type' });
    await expect(ids({ cursor: 'x' })).rejects.toMatchObject({ reason: 'invalid_cursor' });
    await world.services.sql`delete from pgboss.job where name = 'webhook.close'`;
  });

  it('returns a message’s jobs', async () => {
    const { job, message_id } = await deferredMail();

    const { data } = await invoke(ctx, listJobs, { subject: message_id });

    expect(data).toMatchObject([{ id: job, state: 'deferred', subject: { type: 'message', id: message_id } }]);
  });
});

describe('jobs.get', () => {
  it('shows an email’s attempts, latest first', async () => {
    const { job } = await deferredMail();

    const details = await invoke(ctx, getJob, { id: job });

    expect(details.attempts).toMatchObject([{ number: 1, error: { name: 'deferred' } }]);
    expect(details.attempts[0]?.error?.message).toContain('later');
  });

  it('shows a parked email as a ready job, with the lane in which it is waiting', async () => {
    const { job, message_id, recipient_id } = await deferredMail();
    const uuid = jobUuid(job) ?? '';
    const { sql } = world.services;
    await sql`delete from pgboss.job where id = ${uuid}`;
    await sql`
      insert into parked_deliveries (job_id, lane, workspace_id, message_id, recipient_id, due_at)
      values (${uuid}, 'slow.test', ${world.workspace_id}, ${message_id}, ${recipient_id}, clock_now())`;

    expect(await invoke(ctx, getJob, { id: job })).toMatchObject({ state: 'ready', parked_in: 'slow.test' });
    await expect(invoke(ctx, runJobNow, { id: job })).rejects.toMatchObject({
      reason: 'job_not_open',
      message: expect.stringContaining('slow.test'),
    });
  });

  it('returns a not-found error for a malformed or unknown id', async () => {
    for (const id of ['job_', 'x', jobId(randomUUID())])
      await expect(invoke(ctx, getJob, { id })).rejects.toMatchObject({ reason: 'job_not_found' });
  });
});

describe('admin actions on jobs', () => {
  it('retry a dead job once, and report the retry', async () => {
    const [id = ''] = await addClose(['whk_retry']);
    await die(id);

    const tries = await Promise.allSettled([1, 2, 3].map(() => invoke(ctx, retryJob, { id, reason: 'repaired' })));

    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await stateOf(id)).toBe('retry');
    expect(await audited(id)).toEqual(['job.retried']);
    const [job] = await world.services.jobs.fetch('webhook.close', 1);
    expect(job).toMatchObject({ data: { webhook_id: 'whk_retry' }, retry_count: 101 });
    await world.services.sql.begin((tx) => world.services.jobs.complete(tx, 'webhook.close', job ? [job] : []));
  });

  it('do not affect a job held by a worker', async () => {
    const [id = ''] = await addClose(['whk_held']);
    const [job] = await world.services.jobs.fetch('webhook.close', 1);

    for (const lever of [retryJob, cancelJob, runJobNow]) {
      await expect(invoke(ctx, lever, { id })).rejects.toMatchObject({
        reason: 'job_not_open',
        facts: { extra: { state: 'active' } },
      });
    }

    expect(await audited(id)).toEqual([]);
    await world.services.sql.begin((tx) => world.services.jobs.complete(tx, 'webhook.close', job ? [job] : []));
  });

  it('cancel a waiting job, which can be retried afterward', async () => {
    const id = await addJob('storage.maintain', {}, new Date(world.clock.now() + HOUR_MS));

    expect(await invoke(ctx, cancelJob, { id })).toMatchObject({ state: 'canceled' });
    await expect(invoke(ctx, cancelJob, { id })).rejects.toMatchObject({ reason: 'job_not_open' });
    expect(await invoke(ctx, retryJob, { id })).toMatchObject({ state: 'retry' });

    expect(await audited(id)).toEqual(['job.canceled', 'job.retried']);
    await world.services.sql`delete from pgboss.job where name = 'storage.maintain'`;
  });

  it('run a job immediately if it is scheduled for later', async () => {
    const [id = ''] = await addClose(['whk_now'], new Date(world.clock.now() + HOUR_MS));

    expect(await invoke(ctx, runJobNow, { id })).toMatchObject({ state: 'ready' });

    expect(await world.services.jobs.fetch('webhook.close', 5)).toMatchObject([{ data: { webhook_id: 'whk_now' } }]);
    await world.services.sql`delete from pgboss.job where name = 'webhook.close'`;
  });

  it('send a deferred email immediately, in the commit that makes its job due', async () => {
    const { job, message_id } = await deferredMail();

    await invoke(ctx, retryJob, { id: job });
    await world.drain();

    const [row] = await world.services
      .sql`select state, attempt_count from recipients where message_id = ${message_id}`;
    expect(row).toEqual({ state: 'delivered', attempt_count: 2 });
    expect(await audited(job)).toEqual(['job.retried']);
  });

  it('do not affect an email claimed by a worker', async () => {
    const { job, message_id } = await deferredMail();
    const { sql } = world.services;
    await sql`update recipients set lease = gen_random_uuid(), lease_until = clock_now() + interval '30 seconds' where message_id = ${message_id}`;
    const before = [...(await sql`select due_at from recipients where message_id = ${message_id}`)];

    await expect(invoke(ctx, runJobNow, { id: job })).rejects.toMatchObject({ reason: 'job_not_open' });

    expect([...(await sql`select due_at from recipients where message_id = ${message_id}`)]).toEqual(before);
    expect(await stateOf(job)).toBe('deferred');
    expect(await audited(job)).toEqual([]);
  });

  it.each([
    ['webhook.deliver', { workspace_id: 'wsp_none', webhook_id: 'whk_none' }, 'Disable the webhook'],
    ['webhook.close', { webhook_id: 'whk_none' }, 'retry it'],
    [
      'webhook.recover',
      { workspace_id: 'w', webhook_id: 'whk_none', since: '2031-01-01T00:00:00Z', until: '2031-01-02T00:00:00Z' },
      'Disable the webhook',
    ],
    ['domain.cancel_mail', { workspace_id: 'wsp_none', domain: 'gone.test' }, 'retry it'],
    ['bulk.run', { bulk_id: 'blk_none', turn: 0 }, 'Cancel the operation'],
  ] as const)('do not cancel a job of %s, because nothing else would do its work', async (queue, data, advice) => {
    const id = await addJob(queue, data, new Date(world.clock.now() + HOUR_MS));
    const refusal = { reason: 'job_not_open', message: expect.stringContaining(advice) };

    await expect(invoke(ctx, cancelJob, { id })).rejects.toMatchObject(refusal);
    await die(id);
    await expect(invoke(ctx, cancelJob, { id })).rejects.toMatchObject(refusal);

    expect(await stateOf(id)).toBe('dead');
    await world.services.sql`delete from pgboss.job where name = ${queue}`;
  });

  it('do not run a webhook job before its deliveries are due, because nothing would be sent', async () => {
    const data = { workspace_id: world.workspace_id, webhook_id: 'whk_none' };
    const id = await addJob('webhook.deliver', data, new Date(world.clock.now() + HOUR_MS));

    await expect(invoke(ctx, runJobNow, { id })).rejects.toMatchObject({
      reason: 'job_not_open',
      message: expect.stringContaining('when the next webhook delivery'),
    });

    expect(await stateOf(id)).toBe('deferred');
    await world.services.sql`delete from pgboss.job where name = 'webhook.deliver'`;
  });

  it('do not cancel an email through its job, and explain how to cancel the email', async () => {
    const { job, message_id } = await deferredMail();

    await expect(invoke(ctx, cancelJob, { id: job })).rejects.toMatchObject({
      reason: 'job_not_open',
      message: expect.stringContaining(`/email/${message_id}/cancel`),
    });

    expect(await stateOf(job)).toBe('deferred');
  });

  const scheduledMail = async (hours = 1) => {
    const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Later', text: 'Hi' };
    const scheduled_at = new Date(world.clock.now() + hours * HOUR_MS).toISOString();
    const { id: message_id } = await invoke(ctx, sendMessage, { ...mail, scheduled_at });
    return { message_id, scheduled_at, job: await jobOf(message_id) };
  };
  const jobOf = async (message_id: string) => {
    const [row] = await world.services.sql<{ job_id: string }[]>`
      select job_id from recipients where message_id = ${message_id}`;
    return jobId(row?.job_id ?? '');
  };

  it.each([
    ['run', runJobNow],
    ['retry', retryJob],
  ])('do not %s a scheduled email before its time, and explain how to reschedule the email', async (_, lever) => {
    const { message_id, scheduled_at, job } = await scheduledMail();
    const description = `The job is deferred. ${message_id} is scheduled for ${scheduled_at}: move it with PATCH`;

    await expect(invoke(ctx, lever, { id: job })).rejects.toMatchObject({
      reason: 'job_not_open',
      message: expect.stringContaining(description),
    });
    await expect(invoke(ctx, cancelJob, { id: job })).rejects.toMatchObject({ reason: 'job_not_open' });

    expect(await stateOf(job)).toBe('deferred');
    expect(await audited(job)).toEqual([]);
    await invoke(ctx, cancelMessage, { id: message_id });
  });

  it('do not count a canceled email’s job, because there is nothing left to run', async () => {
    const { message_id, job } = await scheduledMail();
    await measure();
    const before = await invoke(ctx, getQueue, { queue: 'delivery.attempt' });

    await invoke(ctx, cancelMessage, { id: message_id });
    await measure();

    expect(await stateOf(job)).toBe('canceled');
    const after = await invoke(ctx, getQueue, { queue: 'delivery.attempt' });
    expect(after.deferred).toBe(before.deferred - 1);
    for (const action of [runJobNow, cancelJob])
      await expect(invoke(ctx, action, { id: job })).rejects.toMatchObject({ reason: 'job_not_open' });
  });

  it('drop a rescheduled email’s old job, and its new job sends the email once', async () => {
    const { message_id, job } = await scheduledMail(48);
    const scheduled_at = new Date(world.clock.now() + 24 * HOUR_MS).toISOString();
    await invoke(ctx, rescheduleMessage, { id: message_id, scheduled_at });
    const other = await jobOf(message_id);

    await expect(invoke(ctx, runJobNow, { id: job })).rejects.toMatchObject({
      message: expect.stringContaining(`waits for ${other}`),
    });
    expect(await invoke(ctx, cancelJob, { id: job })).toMatchObject({ state: 'canceled' });
    await expect(invoke(ctx, cancelJob, { id: other })).rejects.toMatchObject({ reason: 'job_not_open' });
    await world.clock.advance(24 * HOUR_MS);
    await world.drain();

    const [row] = await world.services
      .sql`select state, attempt_count from recipients where message_id = ${message_id}`;
    expect(row).toEqual({ state: 'delivered', attempt_count: 1 });
  });

  it('lose no email and send no duplicates if retries race with workers', async () => {
    const messages = [];
    for (let count = 0; count < 8; count++) messages.push(await deferredMail());
    const arrived = world.smtp.messages.length;
    await world.clock.advance(24 * HOUR_MS);

    await Promise.all([
      ...messages.map(({ job }) => invoke(ctx, runJobNow, { id: job }).catch(() => null)),
      world.drain(),
      ...messages.map(({ job }) => invoke(ctx, retryJob, { id: job }).catch(() => null)),
    ]);
    await world.drain();

    const ids = messages.map(({ message_id }) => message_id);
    const rows = await world.services.sql`select distinct state from recipients where message_id = any (${ids})`;
    expect([...rows]).toEqual([{ state: 'delivered' }]);
    // Messages that earlier tests left deferred are due by now as well.
    const new_messages = world.smtp.messages.slice(arrived);
    expect(new Set(new_messages.map(({ message_id }) => message_id)).size).toBe(new_messages.length);
  });
});

describe('queues.redrive', () => {
  it('shows a preview, then retries jobs, starting with those dead the longest', async () => {
    const ids = await addClose(['whk_1', 'whk_2', 'whk_3']);
    for (const id of ids) await die(id);

    expect(await invoke(ctx, redriveQueue, { queue: 'webhook.close', preview: true })).toMatchObject({
      dead: 3,
      redriven: 0,
    });
    expect(await invoke(ctx, redriveQueue, { queue: 'webhook.close', limit: 2 })).toMatchObject({
      dead: 3,
      redriven: 2,
    });

    const states = await Promise.all(ids.map(stateOf));
    expect(states.toSorted()).toEqual(['dead', 'retry', 'retry']);
    expect(await audited('webhook.close')).toEqual(['queue.redriven']);
    const both = await Promise.all([1, 2].map(() => invoke(ctx, redriveQueue, { queue: 'webhook.close' })));
    expect(both.reduce((sum, { redriven }) => sum + redriven, 0)).toBe(1);
    expect(await world.services.jobs.fetch('webhook.close', 5)).toHaveLength(3);
    await world.services.sql`delete from pgboss.job where name = 'webhook.close'`;
  });
});

describe('queues.set_concurrency', () => {
  it('stores and shows the setting, and records it in the audit log', async () => {
    const queue = await invoke(ctx, setConcurrency, {
      queue: 'domain.recheck',
      concurrency: 3,
      reason: 'many domains',
    });

    expect(queue.concurrency).toBe(3);
    const [entry] = await world.services.sql`
      select diff, reason from audit_log where target_name = 'domain.recheck' order by sequence desc limit 1`;
    expect(entry).toEqual({ diff: '{"concurrency":{"from":1,"to":3}}', reason: 'many domains' });
    await expect(invoke(ctx, setConcurrency, { queue: 'domain.recheck', concurrency: 0 })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});

describe('schedules.list', () => {
  it('describes each schedule in words, with the time of the next run', async () => {
    await world.clock.freeze(new Date('2031-03-01T12:00:30Z'));

    const { data } = await invoke(ctx, listSchedules, { next_runs: 2 });

    expect(data).toMatchObject([
      { name: 'domain.recheck', in_words: 'every minute', timezone: 'UTC', missed_policy: 'skip', last_run: null },
      { name: 'feedback.match', in_words: 'every minute' },
      { name: 'numbers.roll_up', in_words: 'every minute' },
      { name: 'storage.maintain', in_words: 'every hour at minute 7' },
    ]);
    expect(data[3]?.next_runs).toEqual(['2031-03-01T12:07:00.000Z', '2031-03-01T13:07:00.000Z']);
    await world.clock.unfreeze();
  });
});
