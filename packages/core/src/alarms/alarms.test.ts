import { connect } from '@postrider/db';
import { startWebhookSink } from '@postrider/testing';
import { endAfterTests, openWorld } from '@postrider/testing/open-world';
import { beforeEach, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { createHold } from '../holds/index.ts';
import { createInstanceWatch } from '../metrics/index.ts';
import { invoke } from '../operation/operation.ts';
import { rollUpStats } from '../stats/index.ts';
import { acknowledgeAlarm } from './acknowledge-alarm.ts';
import { createAlarmJudge } from './judge.ts';
import { listAlarms } from './list-alarms.ts';
import { isQuiet } from './notices.ts';
import { setAlarmSettings } from './settings.ts';

const TURN_MS = 15_000;
const MINUTE_MS = 60_000;
const hooks = endAfterTests(await startWebhookSink());
const world = await openWorld({ ALERT_EMAIL: 'grace@operator.test', ALERT_WEBHOOK_URL: hooks.url });
const { services, clock, smtp } = world;
const { sql } = services;
const judge = endAfterTests(createAlarmJudge(services));
const watch = createInstanceWatch(services, judge);

interface Notice {
  readonly notice: string;
  readonly rule: string;
  readonly subject: string | null;
  readonly detail: string;
}

let past = { requests: 0, messages: 0 };
const posted = (): Notice[] =>
  hooks.requests.slice(past.requests).flatMap(({ body }) => JSON.parse(body.toString()).alarms as Notice[]);
const mailed = () =>
  smtp.messages.slice(past.messages).filter(({ envelope_to }) => envelope_to.includes('grace@operator.test'));
const list = async (active = true) =>
  (await invoke(world.as(world.workspace_id), listAlarms, { active })).data.map(({ rule, subject }) => [rule, subject]);

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    await clock.advance(TURN_MS);
    // A running worker would have taken a new measurement; without one, only the time of the existing rows is
    // refreshed.
    await sql`update queue_measures set measured_at = clock_now()`;
    await watch.turn();
    await judge.idle();
  }
}

async function measure(queue: string, stand: { readonly ready?: number; readonly oldest?: number }): Promise<void> {
  const { ready = 0, oldest = null } = stand;
  await sql`
    insert into queue_measures (queue, ready, deferred, active, dead, parked, oldest_ready_seconds, measured_at)
    values (${queue}, ${ready}, 0, 0, 0, 0, ${oldest}, clock_now())
    on conflict (queue) do update set ready = excluded.ready, oldest_ready_seconds = excluded.oldest_ready_seconds`;
}

beforeEach(async () => {
  hooks.script(() => ({ kind: 'reply', status: 200 }));
  smtp.script(() => ({ kind: 'accept' }));
  await world.drain();
  await sql`delete from alarms`;
  await sql`delete from alarm_mails`;
  await sql`delete from notice_turns`;
  await sql`delete from alarm_settings`;
  await sql`delete from queue_measures`;
  await sql`update holds set ended_at = clock_now(), ended_by = 'release' where ended_at is null`;
  past = { requests: hooks.requests.length, messages: smtp.messages.length };
});

it('an alert is raised after its minimum duration and reported at its start, daily, and once at its end', async () => {
  await measure('webhook.deliver', { oldest: 400 });
  await turns(1);
  expect(await list()).toEqual([]);

  await turns(5);
  await world.drain();
  expect(await list()).toEqual([['queue_waits', 'webhook.deliver']]);
  expect(posted()).toMatchObject([{ notice: 'start', rule: 'queue_waits', subject: 'webhook.deliver' }]);
  expect(mailed()).toHaveLength(1);

  await clock.advance(24 * 60 * MINUTE_MS);
  await turns(2);
  expect(posted().map(({ notice }) => notice)).toEqual(['start', 'reminder']);

  await measure('webhook.deliver', { oldest: 200 });
  await turns(12);
  expect(await list()).toHaveLength(1);
  await measure('webhook.deliver', {});
  await turns(12);
  await world.drain();

  expect(await list()).toEqual([]);
  expect(await list(false)).toEqual([['queue_waits', 'webhook.deliver']]);
  expect(posted().map(({ notice }) => notice)).toEqual(['start', 'reminder', 'end']);
  expect(mailed()).toHaveLength(3);
  expect(String(mailed()[0]?.raw)).toContain('Subject: Alert: Queue delayed');
});

it('a condition that clears before its minimum duration is not reported', async () => {
  await measure('bulk.run', { oldest: 400 });
  await turns(2);
  await measure('bulk.run', {});
  await turns(10);

  expect(await list(false)).toEqual([]);
  expect(posted()).toEqual([]);
});

it('a storm of a hundred conditions produces a single email', async () => {
  for (let number = 0; number < 100; number++) await measure(`queue.${number}`, { oldest: 400 });

  await turns(8);
  await world.drain();

  expect(await invoke(world.as(world.workspace_id), listAlarms, { limit: 100 })).toHaveProperty('data.length', 100);
  expect(posted()).toHaveLength(100);
  expect(mailed()).toHaveLength(1);
  expect(String(mailed()[0]?.raw)).toContain('and 99 more');
});

it('an acknowledged alarm is not reported again until it clears', async () => {
  await measure('webhook.deliver', { oldest: 400 });
  await turns(6);
  const ctx = world.as(world.workspace_id);
  const [alarm] = (await invoke(ctx, listAlarms, {})).data;

  const first = await invoke(ctx, acknowledgeAlarm, { alarm_id: alarm?.id ?? '', reason: 'On it' });
  const second = await invoke(ctx, acknowledgeAlarm, { alarm_id: alarm?.id ?? '' });
  await clock.advance(25 * 60 * MINUTE_MS);
  await turns(2);

  expect(first).toEqual(second);
  expect(first.acknowledged_by).toBe('Postrider');
  expect(posted().map(({ notice }) => notice)).toEqual(['start']);
});

it('a missing worker is reported by webhook, and email waits for a worker', async () => {
  await watch.stop();
  await sql`delete from processes`;
  const rest = createInstanceWatch({ ...services, config: { ...services.config, ROLES: ['rest'] } }, judge);
  // No worker is left to measure the queues, and the last measurement saw an empty one.
  await measure('delivery.attempt', {});
  const from = 'shop@sandbox.test';
  await invoke(world.as(world.workspace_id), sendMessage, { from, to: 'ada@example.com', subject: 'Hi', text: 'Hi' });

  for (let turn = 0; turn < 6; turn++) {
    await clock.advance(TURN_MS);
    await rest.turn();
  }
  await rest.stop();

  expect(posted()).toMatchObject([{ notice: 'start', rule: 'no_worker' }]);
  expect(mailed()).toEqual([]);
  await world.drain();
  expect(mailed()).toHaveLength(1);
});

it('failing delivery is reported by webhook', async () => {
  smtp.script(() => ({ kind: 'reply', code: 451, text: '4.7.1 Try again later' }));
  const to = (number: number) => `ada${number}@gmail.com`;
  for (let number = 0; number < 60; number++) {
    const mail = { from: 'shop@sandbox.test', to: to(number), subject: 'Hi', text: 'Hi' };
    await invoke(world.as(world.workspace_id), sendMessage, mail);
  }
  await sql`update roll_ups set early_until = date_trunc('minute', clock_now()), final_until = date_trunc('minute', clock_now())`;
  await world.drain();
  await clock.advance(2 * MINUTE_MS);
  await rollUpStats(services);

  await turns(10);
  await world.drain();

  expect(posted()).toMatchObject([{ notice: 'start', rule: 'provider_defers', subject: 'google' }]);
  expect(mailed()).toEqual([]);
  await sql`delete from stat_minutes`;
  smtp.script(() => ({ kind: 'accept' }));
  await clock.advance(10 * MINUTE_MS);
  await world.drain();
  expect(mailed()).toHaveLength(1);
});

it('a failing webhook receives the notice later, while the alert email arrives on time', async () => {
  hooks.script(() => ({ kind: 'reply', status: 500 }));
  await measure('webhook.deliver', { oldest: 400 });
  await turns(6);
  await world.drain();
  const count = posted().length;

  hooks.script(() => ({ kind: 'reply', status: 200 }));
  await turns(2);

  expect(mailed()).toHaveLength(1);
  expect(posted()).toHaveLength(count + 1);
  expect(posted().at(-1)).toMatchObject({ notice: 'start', rule: 'queue_waits' });
});

describe('an unavailable database', () => {
  const lost = connect('postgres://postrider@127.0.0.1:1/none', { max: 1, application_name: 'postrider-test' });
  endAfterTests({ stop: () => lost.end({ timeout: 1 }) });

  /** Opens a process that loses the database after its first turn, with a way to reconnect it. */
  async function openBlind() {
    const single = createAlarmJudge(services);
    const seeing = createInstanceWatch(services, single);
    const blind = createInstanceWatch({ ...services, sql: lost }, single);
    await seeing.turn();
    return { seeing, blind, stop: () => single.stop() };
  }

  it('is reported once by webhook from memory after a one-minute outage, as is the recovery', async () => {
    const { seeing, blind, stop } = await openBlind();
    for (let turn = 0; turn < 3; turn++) {
      await blind.turn();
      await clock.advance(TURN_MS);
    }
    expect(posted()).toEqual([]);
    for (let turn = 0; turn < 5; turn++) {
      await blind.turn();
      await clock.advance(TURN_MS);
    }
    const notices = posted();

    await seeing.turn();
    await turns(4);
    await world.drain();

    expect(notices).toMatchObject([{ notice: 'start', rule: 'database_gone' }]);
    expect(posted().slice(1)).toMatchObject([{ notice: 'end', rule: 'database_gone' }]);
    expect(await list(false)).toEqual([['database_gone', null]]);
    expect(mailed()).toHaveLength(1);
    expect(String(mailed()[0]?.raw)).toContain('Subject: Resolved: Database unreachable');
    await stop();
  });

  it('is reported again until the webhook accepts it, except during quiet hours', async () => {
    const time = (offset_ms: number) => new Date(clock.now() + offset_ms).toISOString().slice(11, 16);
    const quiet = { quiet_from: time(-10 * MINUTE_MS), quiet_until: time(10 * MINUTE_MS) };
    await invoke(world.as(world.workspace_id), setAlarmSettings, { access: 'instance', ...quiet });
    const { blind, stop } = await openBlind();
    await blind.turn();
    await clock.advance(2 * MINUTE_MS);
    await blind.turn();
    expect(posted()).toEqual([]);

    hooks.script(() => ({ kind: 'reply', status: 500 }));
    await clock.advance(10 * MINUTE_MS);
    await blind.turn();
    const count = posted().length;
    hooks.script(() => ({ kind: 'reply', status: 200 }));
    await blind.turn();
    await blind.turn();

    expect(count).toBeGreaterThan(0);
    expect(posted()).toHaveLength(count + 1);
    await stop();
  });
});

it('a workspace’s alerts are sent to that workspace, outside its quiet hours', async () => {
  const own = endAfterTests(await startWebhookSink());
  const ctx = world.as(world.workspace_id);
  const time = (offset_ms: number) => new Date(clock.now() + offset_ms).toISOString().slice(11, 16);
  const quiet = { quiet_from: time(-10 * MINUTE_MS), quiet_until: time(10 * MINUTE_MS) };
  await invoke(ctx, setAlarmSettings, { access: 'workspace', webhook_url: own.url, ...quiet });
  await world.domain('shaky.test');
  await sql`update domains set status = 'at_risk' where name = 'shaky.test'`;

  await turns(2);
  expect(own.requests).toEqual([]);
  await clock.advance(11 * MINUTE_MS);
  await turns(1);

  const notices = own.requests.flatMap(({ body }) => JSON.parse(body.toString()).alarms as Notice[]);
  expect(notices).toMatchObject([{ notice: 'start', rule: 'domain_regressed', subject: 'shaky.test' }]);
  expect(posted()).toEqual([]);
  await sql`update domains set status = 'verified' where name = 'shaky.test'`;
});

describe('alert settings', () => {
  const set = (fields: Readonly<Record<string, unknown>>, access = 'workspace') =>
    invoke(world.as(world.workspace_id), setAlarmSettings, { access, ...fields });

  it.each([
    ['a user and a password', 'https://a:b@example.com/hook', 'invalid_url'],
    ['a fragment', 'https://example.com/hook#x', 'invalid_url'],
    ['a port of another server', 'https://example.com:6379/', 'invalid_url'],
    ['a line break', 'https://example.com/ho\r\nok', 'invalid_url'],
    ['a private address', 'http://10.0.0.1/hook', 'private_address'],
  ])('reject a webhook with %s, just as event webhooks do', async (_, webhook_url, reason) => {
    for (const access of ['workspace', 'instance']) {
      await expect(set({ webhook_url }, access)).rejects.toMatchObject({
        reason,
        facts: { details: [{ param: 'webhook_url', reason }] },
      });
    }
    expect((await set({})).webhook_url).toBeNull();
  });

  it('require a verified domain of the workspace, or any verified domain for instance alerts', async () => {
    const other = await world.workspace('free');
    await world.domain('theirs.test', other.workspace_id);
    await world.domain('told.test');
    const refusal = { reason: 'domain_not_verified', facts: { details: [{ param: 'from' }] } };

    await expect(set({ from: 'alarms@nowhere.test' })).rejects.toMatchObject(refusal);
    await expect(set({ from: 'alarms@theirs.test' })).rejects.toMatchObject(refusal);
    await expect(set({ from: 'alarms@nowhere.test' }, 'instance')).rejects.toMatchObject(refusal);
    expect(await set({ from: 'alarms@theirs.test' }, 'instance')).toMatchObject({ from: 'alarms@theirs.test' });
    expect(await set({ from: 'alarms@told.test' })).toMatchObject({ from: 'alarms@told.test' });
    await sql`update domains set status = 'failed' where name = 'told.test'`;
    await expect(set({ from: 'alarms@told.test' })).rejects.toMatchObject(refusal);
    await sql`update domains set status = 'verified' where name = 'told.test'`;
    expect(await set({ from: null })).toMatchObject({ from: null });
  });
});

it('an old hold raises an alarm in its workspace', async () => {
  await invoke(world.as(world.workspace_id), createHold, {
    scope: 'destination',
    value: 'slow.test',
    reason: 'Outage',
    expires_at: new Date(clock.now() + 10 * 86_400_000).toISOString(),
  });
  await clock.advance(25 * 60 * MINUTE_MS);

  await turns(1);

  expect(await list()).toEqual([['hold_old', expect.stringMatching(/^hld_/)]]);
});

it('quiet hours may span midnight', () => {
  const night = { quiet_from: 22 * 60, quiet_until: 7 * 60 };

  expect([21, 23, 3, 8].map((hour) => isQuiet({ ...night, minute_of_day: hour * 60 }))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});
