import { createWorld, type World } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { newId } from '../fields/ids.ts';
import { createHold } from '../holds/index.ts';
import { closeLane } from '../lanes/closing-store.ts';
import { holdLane, transportLane } from '../lanes/index.ts';
import { invoke } from '../operation/operation.ts';
import { rollUpStats } from '../stats/index.ts';
import { type Backlog, type BacklogRow, getBacklog } from './get-backlog.ts';
import { refreshBacklog } from './refresh-backlog.ts';
import { backlogDimensions, countNow, lastCount } from './store.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let world: World;
beforeEach(async () => {
  world = await createWorld({ RETRY_SCHEDULE: '1h,5h' });
  await world.clock.freeze(new Date(Math.ceil(world.clock.now() / HOUR_MS) * HOUR_MS));
});
afterEach(() => world.stop());

async function send(
  to: string | readonly string[],
  fields: Record<string, unknown> = {},
  workspace_id = world.workspace_id,
) {
  const mail = { from: 'hello@sandbox.test', to, subject: 'Hello', text: 'Hi', ...fields };
  return (await invoke(world.as(workspace_id), sendMessage, mail)).id;
}

const backlog = (input: Record<string, unknown> = {}, workspace_id = world.workspace_id): Promise<Backlog> =>
  invoke(world.as(workspace_id), getBacklog, { reach: 'workspace', ...input });
const totals = ({ rows }: Backlog) => rows.map(({ key, total }): [string, number] => [key, total]);
const ages = ({ counts }: BacklogRow) => counts.flatMap((count, bucket) => (count > 0 ? [[bucket, count]] : []));

/** Parks queued email by recipient in lanes. */
async function parkIn(lanes: Readonly<Record<string, string>>): Promise<void> {
  const { sql } = world.services;
  for (const [email, lane] of Object.entries(lanes)) {
    await sql`insert into lanes (lane, tended_at) values (${lane}, clock_now()) on conflict do nothing`;
    await sql`
      insert into parked_deliveries (job_id, lane, workspace_id, message_id, recipient_id, due_at)
      select job_id, ${lane}, workspace_id, message_id, id, due_at from recipients where email = ${email}`;
  }
}

describe('the backlog', () => {
  it('counts waiting email by destination, excluding finished and scheduled email', async () => {
    world.smtp.script(({ stage, to }) =>
      stage === 'rcpt' && to.startsWith('later')
        ? { kind: 'reply', code: 451, text: '4.7.1 Not now' }
        : { kind: 'accept' },
    );
    await send(['ada@example.com', 'later@example.com', 'later@example.net']);
    await world.drain();
    await send(['one@example.com', 'two@example.com']);
    const planned = new Date(world.clock.now() + HOUR_MS).toISOString();
    await send('planned@example.org', { scheduled_at: planned });

    const report = await backlog();

    expect(totals(report)).toEqual([
      ['example.com', 3],
      ['example.net', 1],
    ]);
    expect(report.total).toMatchObject({ key: '', total: 4, oldest_seconds: 0 });
    expect(report.rows[0]).toMatchObject({
      last_reply: '451 4.7.1 Not now',
      closed_until: null,
      last_success_at: null,
    });
    expect(report.bucket_upper_minutes).toEqual([5, 10, 20, 40, 80, 160, 320, 640, null]);
    expect(report.measured_at).toBe(new Date(world.clock.now()).toISOString());
    await world.clock.advance(HOUR_MS);
    expect(totals(await backlog())).toContainEqual(['example.org', 1]);
    world.smtp.script(() => ({ kind: 'accept' }));
    await world.drain();
    const empty = await backlog();
    expect(empty.rows).toEqual([]);
    expect(empty.total).toMatchObject({ total: 0, counts: Array(9).fill(0), oldest_seconds: null });
  });

  it('measures email age from the due time, or from the first attempt after a retry', async () => {
    await send('old@example.com');
    await world.clock.advance(11 * HOUR_MS);
    world.smtp.script(() => ({ kind: 'reply', code: 451, text: '4.7.1 Not now', at: 'rcpt' }));
    await send('tried@example.com');
    await world.services
      .sql`update pgboss.job set start_after = clock_now() + interval '1 day' where (data->>'recipient_id')::uuid in (select id from recipients where email = 'old@example.com')`;
    await world.drain();
    await world.clock.advance(6 * MINUTE_MS);
    await send('new@example.com');

    const { rows, total } = await backlog();

    expect(ages(total)).toEqual([
      [0, 1],
      [1, 1],
      [8, 1],
    ]);
    expect(rows[0]?.oldest_seconds).toBe(11 * 3600 + 6 * 60);
  });

  it('is broken down by provider, sender, key and tag', async () => {
    await world.domain('shop.test');
    await send(['a@gmail.com', 'b@googlemail.com', 'c@example.com'], { tags: ['shop', 'receipt'] });
    await send('d@gmail.com', { from: 'app@shop.test', tags: ['shop'] });
    const key = newId('api_key', world.clock.now());
    await world.services.sql`update messages set api_key_id = ${key} where from_domain = 'shop.test'`;

    const by = async (dimension: string) => totals(await backlog({ by: dimension }));

    expect(await by('provider')).toEqual([['google', 3]]);
    expect(await by('sender_domain')).toEqual([
      ['sandbox.test', 3],
      ['shop.test', 1],
    ]);
    expect(await by('api_key')).toEqual([[key, 1]]);
    expect(await by('tag')).toEqual([
      ['shop', 4],
      ['receipt', 3],
    ]);
    expect((await backlog({ by: 'tag', top: 1 })).rows).toHaveLength(1);
    expect((await backlog({ by: 'provider' })).total.total).toBe(4);
  });

  it('is grouped by the transport of the lane or, if not parked, of the last attempt', async () => {
    const { sql } = world.services;
    const [first, second] = [newId('transport', 1), newId('transport', 2)];
    world.smtp.script(() => ({ kind: 'reply', code: 451, text: '4.7.1 Not now', at: 'rcpt' }));
    const attempted = [await send(['a@example.com', 'b@example.com']), await send('c@example.com')];
    await world.drain();
    await world.clock.advance(HOUR_MS);
    await world.drain();
    await sql`update attempts set transport_id = ${first} where number = 2 and message_id = ${attempted[0] ?? ''}`;
    await sql`update attempts set transport_id = ${second} where number = 1`;
    const lanes = {
      'via@example.net': transportLane('example.net', second),
      'plain@example.net': 'example.net',
      'held@example.net': holdLane(newId('hold', 1)),
    };
    await send(Object.keys(lanes));
    await parkIn(lanes);
    await send('queued@example.net');

    const report = await backlog({ by: 'transport' });

    expect(new Map(totals(report))).toEqual(
      new Map([
        [first, 2],
        ['default', 2],
        [second, 1],
      ]),
    );
    expect(report.total.total).toBe(7);
    expect(report.rows.find(({ key }) => key === first)).toMatchObject({ last_reply: '451 4.7.1 Not now' });
    await parkIn({ 'a@example.com': transportLane('example.com', second) });
    expect(totals(await backlog({ by: 'transport', reach: 'instance' }))).toContainEqual([second, 2]);
  });

  it('shows when a destination closed and when it last received email', async () => {
    const { sql } = world.services;
    await sql`update roll_ups set early_until = ${new Date(world.clock.now())}, final_until = ${new Date(world.clock.now())}`;
    await send('ada@example.com');
    await world.drain();
    const key = newId('api_key', world.clock.now());
    await sql`update messages set api_key_id = ${key}`;
    const delivered_at = new Date(world.clock.now()).toISOString();
    await world.clock.advance(2 * MINUTE_MS);
    await rollUpStats(world.services);
    await send('bob@example.com');
    await sql`update messages set api_key_id = ${key}`;
    await closeLane(sql, { lane: 'example.com', seconds: 300, closings: 1, last_reply: '421 Busy' });

    const [row] = (await backlog()).rows;

    const closed_until = new Date(world.clock.now() + 300_000).toISOString();
    expect(row).toMatchObject({ last_success_at: delivered_at, closed_until, closed_reason: 'failing' });
    await parkIn({ 'bob@example.com': 'example.com' });
    const by_transport = await backlog({ by: 'transport' });
    expect(by_transport.rows).toMatchObject([{ key: 'default', last_success_at: delivered_at }]);
    const by_key = await backlog({ by: 'api_key' });
    expect(by_key.rows).toMatchObject([{ key, last_success_at: delivered_at }]);
  });

  it('shows a hold on a destination, sending domain or key, but not another workspace’s holds', async () => {
    const other = await world.workspace('business');
    await send('ada@example.com');
    const hold = (workspace_id: string, scope: string, value: string) =>
      invoke(world.as(workspace_id), createHold, { scope, value, reason: 'They asked for it' });
    const domain = await hold(world.workspace_id, 'sender_domain', 'sandbox.test');
    await hold(other.workspace_id, 'sender_domain', 'sandbox.test').catch(() => null);
    const destination = await hold(world.workspace_id, 'destination', 'example.com');

    const holdOf = async (dimension: string, reach = 'workspace') =>
      (await backlog({ by: dimension, reach })).rows[0]?.hold;

    const facts = ({ id, reason, expires_at }: typeof domain) => ({ id, reason, expires_at });
    expect(await holdOf('destination')).toEqual(facts(destination));
    expect(await holdOf('sender_domain')).toEqual(facts(domain));
    expect(await holdOf('sender_domain', 'instance')).toMatchObject({ reason: 'They asked for it' });
    expect(await holdOf('provider')).toBeUndefined();
  });

  it('includes only the workspace’s own email, or all email when instance-wide', async () => {
    const other = await world.workspace('business');
    await world.domain('other.test', other.workspace_id);
    await send('ada@example.com');
    await send(['a@example.com', 'b@example.com'], { from: 'app@other.test' }, other.workspace_id);

    expect(totals(await backlog())).toEqual([['example.com', 1]]);
    expect(totals(await backlog({}, other.workspace_id))).toEqual([['example.com', 2]]);
    expect(totals(await backlog({ reach: 'instance' }))).toEqual([['example.com', 3]]);
    expect(totals(await backlog({ reach: 'instance', by: 'sender_domain' }))).toEqual([
      ['other.test', 2],
      ['sandbox.test', 1],
    ]);
  });
});

describe('the periodic backlog count', () => {
  it('equals an on-demand count, for every workspace and dimension', async () => {
    const { sql } = world.services;
    const other = await world.workspace('business');
    await world.domain('other.test', other.workspace_id);
    await send(['ada@gmail.com', 'bob@example.com'], { tags: ['one', 'two'] });
    await send(['a@gmail.com', 'b@example.net'], { from: 'app@other.test', tags: ['two'] }, other.workspace_id);

    await refreshBacklog(world.services);

    for (const workspace_id of ['', world.workspace_id, other.workspace_id]) {
      for (const dimension of backlogDimensions) {
        const now = await sql.begin((tx) => countNow(tx, dimension, workspace_id, 100));
        const last = await lastCount(sql, dimension, workspace_id, 100);
        expect({ ...last, rows: last?.rows.map(({ key, total }) => [key, total]), total: last?.total.total }).toEqual({
          ...now,
          rows: now.rows.map(({ key, total }) => [key, total]),
          total: now.total.total,
        });
      }
    }
  });

  it('is computed by one worker for all workers, and again when it is due', async () => {
    const { sql } = world.services;
    const peer = await world.peer();
    await send('ada@example.com');
    await Promise.all([refreshBacklog(world.services), refreshBacklog(peer)]);
    const readLastTotal = async () => (await lastCount(sql, 'destination', world.workspace_id, 10))?.total.total;
    expect(await readLastTotal()).toBe(1);
    await send('bob@example.com');

    await refreshBacklog(peer);
    expect(await readLastTotal()).toBe(1);
    await world.clock.advance(15_000);
    await refreshBacklog(peer);

    expect(await readLastTotal()).toBe(2);
  });

  it('preserves the full total when the list of keys is truncated', async () => {
    await send(Array.from({ length: 12 }, (_, index) => `a@example${index}.com`));
    await refreshBacklog(world.services);

    const last = await lastCount(world.services.sql, 'destination', world.workspace_id, 5);

    expect(last?.rows).toHaveLength(5);
    expect(last?.total.total).toBe(12);
  });
});
