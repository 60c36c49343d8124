import { createWorld, type World } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { createContext } from '../create-context.ts';
import { cancelMessage } from '../messages/index.ts';
import type { KeyActor } from '../operation/context.ts';
import { invoke } from '../operation/operation.ts';
import { rollUpStats, trimStats } from './roll-up.ts';
import { type Metric, type Stats, statSeries } from './stat-series.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

let world: World;
let midnight: number;
beforeEach(async () => {
  world = await createWorld({ RETRY_SCHEDULE: '1m,5m' });
  midnight = Math.ceil(world.clock.now() / DAY_MS) * DAY_MS;
  await world.clock.freeze(new Date(midnight));
  await computedUntil(midnight);
});
afterEach(() => world.stop());

const computedUntil = (ms: number) =>
  world.services.sql`update roll_ups set early_until = ${new Date(ms)}, final_until = ${new Date(ms)}`;
const at = (ms: number) => new Date(midnight + ms).toISOString();

async function send(
  to: string | readonly string[],
  fields: Record<string, unknown> = {},
  workspace_id = world.workspace_id,
) {
  const mail = { from: 'hello@sandbox.test', to, subject: 'Hello', text: 'Hi', ...fields };
  return (await invoke(world.as(workspace_id), sendMessage, mail)).id;
}

/** Scripts a one-time server reply for each address. */
function refuse(replies: Record<string, readonly [number, string]>): void {
  const remaining = new Map(Object.entries(replies));
  world.smtp.script(({ stage, to }) => {
    const [name = ''] = to.split('@');
    const reply = stage === 'rcpt' ? remaining.get(name) : undefined;
    if (!reply) return { kind: 'accept' };
    remaining.delete(name);
    return { kind: 'reply', code: reply[0], text: reply[1] };
  });
}

function series(input: Record<string, unknown> = {}, workspace_id = world.workspace_id): Promise<Stats> {
  const raw = { since: at(0), bucket: 'minute', metrics: ['accepted', 'delivered'], reach: 'workspace', ...input };
  return invoke(world.as(workspace_id), statSeries, raw);
}

/** Returns the non-zero values of a series, by minutes after midnight. */
function values({ series: lines }: Stats, metric: Metric, key: string | null = null): Record<number, number | null> {
  const one = lines.find((entry) => entry.metric === metric && entry.key === key);
  return Object.fromEntries(
    (one?.points ?? [])
      .filter(({ value }) => value !== 0 && value !== null)
      .map((point) => [(Date.parse(point.at) - midnight) / MINUTE_MS, point.value]),
  );
}

const stored = () => world.services.sql`select * from stat_minutes order by workspace_id, dimension, at, key`;

describe('a workspace’s statistics series', () => {
  it('counts recipients in the minute in which the event occurred', async () => {
    refuse({ later: [451, '4.3.0 Later'], never: [550, '5.1.1 Unknown'] });
    await send(['ada@example.com', 'later@example.com', 'never@example.com']);
    const canceled = await send(['one@example.com', 'two@example.com'], { scheduled_at: at(HOUR_MS) });
    await invoke(world.as(world.workspace_id), cancelMessage, { id: canceled });
    await world.drain();
    await world.clock.advance(MINUTE_MS);
    await world.drain();
    await world.clock.advance(2 * MINUTE_MS);

    await rollUpStats(world.services);

    const stats = await series({ metrics: ['accepted', 'delivered', 'deferred', 'bounced', 'canceled', 'failed'] });
    expect(values(stats, 'accepted')).toEqual({ 0: 5 });
    expect(values(stats, 'delivered')).toEqual({ 0: 1, 1: 1 });
    expect(values(stats, 'deferred')).toEqual({ 0: 1 });
    expect(values(stats, 'bounced')).toEqual({ 0: 1 });
    expect(values(stats, 'canceled')).toEqual({ 0: 2 });
    expect(values(stats, 'failed')).toEqual({});
    expect(stats.series.every(({ points }) => points.length === 3)).toBe(true);
    expect(stats.complete_until).toBe(at(2 * MINUTE_MS));
  });

  it('includes late commits when a minute is recomputed, and counts nothing twice', async () => {
    await send('first@example.com');
    await world.clock.advance(2 * MINUTE_MS);
    await rollUpStats(world.services);
    expect(values(await series(), 'accepted')).toEqual({ 0: 1 });
    // The message's ids are from the first minute, but its commit comes after the first roll-up.
    await world.clock.freeze(new Date(midnight + 59_999));
    await send('late@example.com');
    await world.clock.freeze(new Date(midnight + 3 * MINUTE_MS));
    await rollUpStats(world.services);
    expect(values(await series(), 'accepted')).toEqual({ 0: 1 });

    await world.clock.advance(4 * MINUTE_MS);
    await rollUpStats(world.services);

    const first_rows = await stored();
    expect(values(await series(), 'accepted')).toEqual({ 0: 2 });
    await computedUntil(midnight);
    await rollUpStats(world.services);
    expect(await stored()).toEqual(first_rows);
  });

  it('sums minutes into UTC hours and days, whatever the reader’s time zone', async () => {
    for (const minutes of [59, 60, 61, 24 * 60 + 1]) {
      await world.clock.freeze(new Date(midnight + minutes * MINUTE_MS));
      await send('ada@example.com');
    }
    await world.clock.freeze(new Date(midnight + DAY_MS + 10 * MINUTE_MS));

    await rollUpStats(world.services);

    const since = `${at(0).slice(0, 19)}+00:00`;
    expect(values(await series({ bucket: 'hour', since }), 'accepted')).toEqual({ 0: 1, 60: 2, 1440: 1 });
    const days = await series({ bucket: 'day', since });
    expect(values(days, 'accepted')).toEqual({ 0: 3, 1440: 1 });
    expect(days.series[0]?.points.map((point) => point.at)).toEqual([at(0), at(DAY_MS)]);
  });

  it('promise P25: catches up after hours of downtime, latest minutes first, saving each step', async () => {
    await send('old@example.com');
    await world.clock.advance(9 * HOUR_MS);
    await send('new@example.com');
    await world.clock.advance(2 * MINUTE_MS);

    await rollUpStats(world.services, 0);
    expect(await stored()).toEqual([]);
    await rollUpStats(world.services);

    expect(values(await series(), 'accepted')).toEqual({ 0: 1, 540: 1 });
    expect(values(await series({ bucket: 'day' }), 'accepted')).toEqual({ 0: 2 });
    const [progress] = await world.services.sql`select early_until, final_until from roll_ups where name = 'stats'`;
    expect(progress).toEqual({
      early_until: new Date(midnight + 9 * HOUR_MS + MINUTE_MS),
      final_until: new Date(midnight + 9 * HOUR_MS - 3 * MINUTE_MS),
    });
  });

  it('is computed once if two workers compete', async () => {
    await send('ada@example.com');
    await world.clock.advance(10 * MINUTE_MS);
    const peer = await world.peer();

    await Promise.all([rollUpStats(world.services), rollUpStats(peer)]);

    expect(values(await series(), 'accepted')).toEqual({ 0: 1 });
  });

  it('keeps minutes for three days, or longer until they are included in an hour', async () => {
    await send('ada@example.com');
    await world.clock.advance(2 * MINUTE_MS);
    await rollUpStats(world.services);
    await world.clock.freeze(new Date(midnight + 3 * DAY_MS + HOUR_MS));
    await trimStats(world.services);
    expect(await stored()).not.toEqual([]);

    await rollUpStats(world.services);
    await trimStats(world.services);

    expect(await stored()).toEqual([]);
    expect(values(await series({ bucket: 'hour' }), 'accepted')).toEqual({ 0: 1 });
  });

  it('reports the time from acceptance to the first attempt and to delivery', async () => {
    refuse({ later: [451, '4.3.0 Later'] });
    await send('later@example.com');
    await send('planned@example.com', { scheduled_at: at(8000) });
    await world.clock.advance(8000);
    await world.drain();
    await world.clock.advance(92_000);
    await world.drain();
    await world.clock.advance(2 * MINUTE_MS);

    await rollUpStats(world.services);

    const metrics = ['accept_to_first_attempt_p95', 'accept_to_delivered_p99', 'accept_to_delivered_p50'];
    const stats = await series({ metrics, bucket: 'hour' });
    const one = (metric: Metric) => values(stats, metric)[0] ?? Number.NaN;
    expect(one('accept_to_first_attempt_p95')).toBeGreaterThan(8 * 0.79);
    expect(one('accept_to_first_attempt_p95')).toBeLessThan(8 * 1.26);
    expect(one('accept_to_delivered_p99')).toBeGreaterThan(100 * 0.79);
    expect(one('accept_to_delivered_p99')).toBeLessThan(100 * 1.26);
    expect(one('accept_to_delivered_p50')).toBeLessThan(1);
  });
});

describe('a statistics response', () => {
  it('has at most 30,000 points, a limit checked before any data is read', async () => {
    await world.clock.freeze(new Date(midnight + 6 * HOUR_MS));
    const input = { bucket: 'minute', group_by: 'tag', top: 29 };
    const two = ['accepted', 'delivered'];

    const widest = await series({ ...input, metrics: two });
    const promise = series({ ...input, metrics: [...two, 'bounced'] });

    expect(widest.object).toBe('stats');
    await expect(promise).rejects.toMatchObject({ reason: 'query_too_complex' });
    await expect(promise).rejects.toThrow('32400 points');
    expect((await series({ ...input, metrics: [...two, ...two, 'bounced'], top: 10 })).object).toBe('stats');
  });
});

describe('the dimensions of a statistics series', () => {
  it('are sending domain, tag, provider and key, with one series for all but the top values', async () => {
    await world.domain('shop.test');
    const key = await world.key({ scopes: ['email:send'] });
    await send(['a@gmail.com', 'b@gmail.com', 'c@hotmail.com', 'd@example.com'], { tags: ['receipt', 'shop'] });
    await send('e@gmail.com', { from: 'app@shop.test', tags: ['shop'] });
    await world.services.sql`update messages set api_key_id = ${key.id} where from_domain = 'shop.test'`;
    await world.clock.advance(2 * MINUTE_MS);
    await rollUpStats(world.services);

    const top_of = async (group_by: string, top = 10) => {
      const { series: lines } = await series({ group_by, top, metrics: ['accepted'] });
      return lines.map(({ key, points }) => [key, points[0]?.value]);
    };

    expect(await top_of('domain')).toEqual([
      ['sandbox.test', 4],
      ['shop.test', 1],
    ]);
    expect(await top_of('tag')).toEqual([
      ['shop', 5],
      ['receipt', 4],
    ]);
    expect(await top_of('provider')).toEqual([
      ['google', 3],
      ['microsoft', 1],
      [null, 1],
    ]);
    expect(await top_of('provider', 1)).toEqual([
      ['google', 3],
      [null, 2],
    ]);
    expect(await top_of('api_key')).toEqual([
      [key.id, 1],
      [null, 4],
    ]);
  });

  it('add up the workspaces of the instance, outcome by outcome', async () => {
    refuse({ later: [451, '4.3.0 Later'], never: [550, '5.1.1 Unknown'], gone: [550, '5.1.1 Unknown'] });
    const other = await world.workspace('business');
    await world.domain('other.test', other.workspace_id);
    await send(['ada@example.com', 'never@example.com', 'gone@example.com']);
    await send(
      ['bob@example.com', 'eve@example.com', 'later@example.com'],
      { from: 'app@other.test' },
      other.workspace_id,
    );
    const four = ['a@example.com', 'b@example.com', 'c@example.com', 'd@example.com'];
    const canceled = await send(four, { scheduled_at: at(HOUR_MS) });
    await invoke(world.as(world.workspace_id), cancelMessage, { id: canceled });
    const key = await world.key({ scopes: ['email:send'] });
    await world.services.sql`update messages set api_key_id = ${key.id} where from_domain = 'other.test'`;
    await world.drain();
    await world.clock.advance(2 * MINUTE_MS);
    await rollUpStats(world.services);

    const metrics = ['accepted', 'delivered', 'bounced', 'deferred', 'failed', 'suppressed', 'complained', 'canceled'];
    const stats = await series({ reach: 'instance', group_by: 'api_key', metrics });

    const countsOf = (value: string | null) =>
      stats.series.filter((one) => one.key === value).map(({ metric, points }) => [metric, points[0]?.value]);
    expect(Object.fromEntries(countsOf(key.id))).toEqual({
      accepted: 3,
      delivered: 2,
      bounced: 0,
      deferred: 1,
      failed: 0,
      suppressed: 0,
      complained: 0,
      canceled: 0,
    });
    expect(Object.fromEntries(countsOf(null))).toEqual({
      accepted: 7,
      delivered: 1,
      bounced: 2,
      deferred: 0,
      failed: 0,
      suppressed: 0,
      complained: 0,
      canceled: 4,
    });
  });

  it('give each minute’s busiest values their own rows, and combine the rest without loss', async () => {
    for (let index = 0; index < 40; index++)
      await send(['a@example.com', 'b@example.com'].slice(0, index < 5 ? 2 : 1), { tags: [`tag${index}`] });
    await world.clock.advance(2 * MINUTE_MS);

    await rollUpStats(world.services);

    const { series: lines } = await series({ group_by: 'tag', top: 30, metrics: ['accepted'] });
    expect(lines).toHaveLength(11);
    expect(lines.slice(0, 5).map(({ points }) => points[0]?.value)).toEqual([2, 2, 2, 2, 2]);
    expect(lines.reduce((sum, { points }) => sum + (points[0]?.value ?? 0), 0)).toBe(45);
  });
});

describe('access to a statistics series', () => {
  const actor = (scopes: KeyActor['scopes']) =>
    createContext(world.services, {
      kind: 'key',
      workspace_id: world.workspace_id,
      key_id: 'key_x',
      scopes,
      mode: 'live',
      domains: null,
    });
  const accepted = async (scopes: KeyActor['scopes'], reach?: string) => {
    const input = { since: at(0), bucket: 'minute', metrics: ['accepted'], ...(reach && { reach }) };
    return values(await invoke(actor(scopes), statSeries, input), 'accepted')[0];
  };

  it('covers the workspace for an admin, the instance for an operator, and nothing for others', async () => {
    const other = await world.workspace('business');
    await world.domain('other.test', other.workspace_id);
    await send('ada@example.com');
    await send(['a@example.com', 'b@example.com'], { from: 'app@other.test' }, other.workspace_id);
    await world.clock.advance(2 * MINUTE_MS);
    await rollUpStats(world.services);

    expect(await accepted(['admin'])).toBe(1);
    expect(await accepted(['operator'])).toBe(3);
    expect(await accepted(['admin', 'operator'])).toBe(1);
    expect(await accepted(['admin', 'operator'], 'instance')).toBe(3);
    expect(values(await series({}, other.workspace_id), 'accepted')).toEqual({ 0: 2 });
    for (const [scopes, reach, scope] of [
      [['admin'], 'instance', 'operator'],
      [['operator'], 'workspace', 'admin'],
      [['email:send', 'email:logs:read'], undefined, 'admin'],
    ] as const) {
      await expect(accepted(scopes, reach)).rejects.toMatchObject({
        reason: 'missing_scope',
        facts: { required_scope: scope },
      });
    }
  });

  it('is rejected for a range that is empty, reversed, too long, or past the retention period', async () => {
    const ranges: (Record<string, unknown> & { since: number; until?: number })[] = [
      { since: 0, until: 0 },
      { since: HOUR_MS, until: 0 },
      { since: 2 * HOUR_MS },
      { since: -DAY_MS - HOUR_MS, until: 0 },
      { since: -4 * DAY_MS, until: -4 * DAY_MS + HOUR_MS },
      { since: -402 * DAY_MS, until: -401 * DAY_MS, bucket: 'hour' },
      { since: -15 * DAY_MS, until: 0, bucket: 'hour', group_by: 'tag' },
    ];

    const responses = await Promise.allSettled(
      ranges.map(({ since, until, ...input }) =>
        series({ since: at(since), ...(until !== undefined && { until: at(until) }), ...input }),
      ),
    );

    expect(responses).toMatchObject(ranges.map(() => ({ status: 'rejected', reason: { reason: 'invalid_range' } })));
  });
});
