import { createWorld, startWebhookSink, type World } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { invoke } from '../operation/operation.ts';
import { createWebhook } from '../webhooks/index.ts';
import { type FailureGroups, failureGroups } from './failure-groups.ts';
import { rollUpFailures, trimFailures } from './roll-up.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

let world: World;
let start: number;
beforeEach(async () => {
  world = await createWorld({ RETRY_SCHEDULE: '2m,5m' });
  start = Math.ceil(world.clock.now() / HOUR_MS) * HOUR_MS;
  await world.clock.freeze(new Date(start));
  await world.services.sql`update roll_ups set early_until = ${new Date(start)}, final_until = ${new Date(start)}`;
});
afterEach(() => world.stop());

async function send(to: string | readonly string[], from = 'hello@sandbox.test', workspace_id = world.workspace_id) {
  await invoke(world.as(workspace_id), sendMessage, { from, to, subject: 'Hello', text: 'Hi' });
}

function groups(input: Record<string, unknown> = {}, workspace_id = world.workspace_id): Promise<FailureGroups> {
  const raw = { since: new Date(start).toISOString(), reach: 'workspace', ...input };
  return invoke(world.as(workspace_id), failureGroups, raw);
}
const counts = ({ data }: FailureGroups) => data.map(({ signature, count }): [string, number] => [signature, count]);
const stored = () =>
  world.services.sql`select * from failure_minutes order by workspace_id, kind, at, group_id, destination`;

/** Rejects every recipient with a reply that contains the recipient's own name. */
function refuse(): void {
  world.smtp.script(({ stage, to }) => {
    if (stage !== 'rcpt') return { kind: 'accept' };
    return to.startsWith('later')
      ? { kind: 'reply', code: 451, text: `4.7.1 <${to}> greylisted for ${to.length} seconds` }
      : { kind: 'reply', code: 550, text: `5.1.1 <${to}> unknown here` };
  });
}

describe('failure groups', () => {
  it('count attempts with similar replies, and show destinations, a sample reply and a trend', async () => {
    refuse();
    await send(['later1@example.com', 'later22@example.com', 'later@example.net', 'never@example.org']);
    await world.drain();
    await world.clock.advance(2 * MINUTE_MS);
    await world.drain();
    await world.clock.advance(2 * MINUTE_MS);

    await rollUpFailures(world.services);

    const page = await groups();
    expect(counts(page)).toEqual([
      ['451 4.7.1 <address> greylisted for # seconds', 6],
      ['550 5.1.1 <address> unknown here', 1],
    ]);
    expect(page.data[0]).toMatchObject({
      kind: 'smtp',
      code: 451,
      enhanced_code: '4.7.1',
      sample: expect.stringMatching(/^451 4\.7\.1 <later\d*@example\.(com|net)> greylisted/),
      destinations: ['example.com', 'example.net'],
      first_seen_at: new Date(start).toISOString(),
      last_seen_at: new Date(start + 2 * MINUTE_MS).toISOString(),
    });
    expect(page.data[0]?.trend.map(({ value }) => value)).toEqual([3, 0, 3, 0]);
    expect(counts(await groups({ kind: 'dns' }))).toEqual([]);
  });

  it('do not change when recomputed', async () => {
    refuse();
    await send(['later1@example.com', 'later2@example.com']);
    await world.drain();
    await world.clock.advance(10 * MINUTE_MS);
    await rollUpFailures(world.services);
    const first_rows = await stored();

    await world.services.sql`update roll_ups set early_until = ${new Date(start)}, final_until = ${new Date(start)}`;
    await rollUpFailures(world.services);

    expect(await stored()).toEqual(first_rows);
    expect(counts(await groups())).toEqual([['451 4.7.1 <address> greylisted for # seconds', 2]]);
  });

  it('cover the workspace’s own failures, or all failures when instance-wide', async () => {
    const other = await world.workspace('business');
    await world.domain('other.test', other.workspace_id);
    refuse();
    await send('never@example.com');
    await send(['never1@example.com', 'never2@example.com'], 'app@other.test', other.workspace_id);
    await world.drain();
    await world.clock.advance(2 * MINUTE_MS);
    await rollUpFailures(world.services);

    const words = '550 5.1.1 <address> unknown here';
    expect(counts(await groups())).toEqual([[words, 1]]);
    expect(counts(await groups({}, other.workspace_id))).toEqual([[words, 2]]);
    expect(counts(await groups({ reach: 'instance' }))).toEqual([[words, 3]]);
  });

  it('are limited in number for many different texts in one minute, but lose no failures', async () => {
    // Spells the index in letters, so that no rule normalizes the reply.
    const word = (index: number) => [...String(index)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
    world.smtp.script(({ stage, to }) =>
      stage === 'rcpt'
        ? { kind: 'reply', code: 550, text: `5.1.1 word ${word(Number(to.split('@')[0]))}` }
        : { kind: 'accept' },
    );
    for (let mail = 0; mail < 6; mail++) {
      await send(Array.from({ length: 40 }, (_, index) => `${mail * 40 + index}@example.com`));
    }
    await world.drain();
    await world.clock.advance(2 * MINUTE_MS);

    await rollUpFailures(world.services);

    const { data } = await groups({ top: 1 });
    expect(data).toMatchObject([{ signature: 'others', count: 40 }]);
    const [sum] = await world.services
      .sql`select sum(count)::int as n, count(distinct group_id)::int as groups from failure_minutes where workspace_id = no_id()`;
    expect(sum).toEqual({ n: 240, groups: 201 });
  });

  it('count failed webhook requests by host, and keep counting them after a retry', async () => {
    const sink = await startWebhookSink();
    sink.script(() => ({ kind: 'reply', status: 503 }));
    await invoke(world.as(world.workspace_id), createWebhook, { url: `${sink.url}/down`, events: ['email.queued'] });
    await send('ada@example.com');
    await send('bob@example.com');
    await world.postWebhooks();
    await world.clock.advance(2 * MINUTE_MS);
    await rollUpFailures(world.services);
    const page = await groups({ kind: 'webhook' });
    expect(counts(page)).toEqual([['503', 2]]);
    expect(page.data[0]?.destinations).toEqual([new URL(sink.url).host]);

    await world.services.sql`update webhook_deliveries set last_attempt_at = clock_now()`;
    await world.clock.advance(10 * MINUTE_MS);
    await rollUpFailures(world.services);

    expect((await groups({ kind: 'webhook' })).data[0]?.trend.map(({ value }) => value).slice(0, 4)).toEqual([
      2, 0, 2, 0,
    ]);
    await sink.stop();
  });

  it('show instance-wide job failures by queue', async () => {
    const { sql } = world.services;
    for (const [number, message] of [
      'connect ECONNREFUSED 192.0.2.1:5432',
      'connect ECONNREFUSED 192.0.2.9:5432',
      null,
    ].entries()) {
      await sql`
        insert into job_attempts (job_id, number, queue, started_at, duration_ms, error_name, error_message)
        values (gen_random_uuid(), ${number}, 'domain.recheck', clock_now(), 5, ${message && 'Error'}, ${message})`;
    }
    await world.clock.advance(2 * MINUTE_MS);

    await rollUpFailures(world.services);

    const page = await groups({ kind: 'job', reach: 'instance' });
    expect(counts(page)).toEqual([['error: connect econnrefused <ip>', 2]]);
    expect(page.data[0]?.destinations).toEqual(['domain.recheck']);
    expect(counts(await groups({ kind: 'job' }))).toEqual([]);
  });

  it('cover minutes for two hours, hours for a week and days beyond that', async () => {
    refuse();
    await send('never@example.com');
    await world.drain();
    await world.clock.advance(50 * HOUR_MS);
    await rollUpFailures(world.services);
    const since = (ms: number) => ({ since: new Date(start - ms).toISOString() });

    const hours = await groups(since(0));
    const days = await groups(since(20 * DAY_MS));

    expect([hours.bucket, days.bucket]).toEqual(['hour', 'day']);
    expect(counts(hours)).toEqual(counts(days));
    expect(hours.data[0]?.trend[0]).toEqual({ at: new Date(start).toISOString(), value: 1 });
    await world.clock.advance(50 * HOUR_MS);
    await rollUpFailures(world.services);
    await trimFailures(world.services);
    expect(await stored()).toEqual([]);
    expect(counts(await groups(since(0)))).toEqual(counts(hours));
    for (const input of [
      { ...since(-200 * HOUR_MS) },
      since(100 * DAY_MS),
      { ...since(0), until: new Date(start).toISOString() },
    ]) {
      await expect(groups(input)).rejects.toMatchObject({ reason: 'invalid_range' });
    }
  });
});
