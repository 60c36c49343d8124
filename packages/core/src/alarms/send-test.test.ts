import { readFileSync } from 'node:fs';
import { startWebhookSink } from '@postrider/testing';
import { endAfterTests, openWorld } from '@postrider/testing/open-world';
import { Webhook } from 'standardwebhooks';
import { beforeEach, describe, expect, it } from 'vitest';
import { alertRulesPage, withAlertRules } from '../../../../scripts/list-alert-rules.ts';
import { newId } from '../fields/ids.ts';
import { invoke } from '../operation/operation.ts';
import { createEncryption } from '../process/encryption.ts';
import { reencryptSecrets } from '../secrets/index.ts';
import { listAlarmRules } from './list-rules.ts';
import { createNotices } from './notices.ts';
import { rotateAlarmSecret } from './rotate-secret.ts';
import { alarmRules } from './rules.ts';
import { sendTestAlarm } from './send-test.ts';
import { getAlarmSettings, setAlarmSettings } from './settings.ts';
import { unopenedAlarmSecrets } from './webhook-secret.ts';

const operator = endAfterTests(await startWebhookSink());
const world = await openWorld({ ALERT_WEBHOOK_URL: operator.url, ALERT_EMAIL: 'grace@operator.test' });
const { services, clock, smtp } = world;
const { sql } = services;
const hooks = endAfterTests(await startWebhookSink());
const HOUR_MS = 3_600_000;

const settle = (workspace_id: string, input: Readonly<Record<string, unknown>>) =>
  invoke(world.as(workspace_id), setAlarmSettings, { access: 'workspace', ...input });
const test = (workspace_id: string) => invoke(world.as(workspace_id), sendTestAlarm, { access: 'workspace' });
const newWorkspace = async () => (await world.workspace('free')).workspace_id;
const lastRequest = () => {
  const request = hooks.requests.at(-1);
  if (!request) throw new Error('no request arrived');
  return request;
};
async function addNotices(workspace_id: string, count: number, detail: string, page: string): Promise<void> {
  const ids = Array.from({ length: count }, () => newId('alarm', clock.now()));
  await sql`
    insert into alarms (id, workspace_id, rule, subject, status, detail, value, page, seen_since, started_at, told_at,
      webhook_due)
    select id, ${workspace_id}, 'webhook_fails', id::text, 'active', ${detail}, 1, ${page}, clock_now(), clock_now(),
      clock_now(), 'start'
    from unnest(${ids}::uuid[]) as n (id)`;
}

/** Returns whether a secret verifies the last request, as a receiver would do it. */
function verifies(secret: string): boolean {
  const { body, headers } = lastRequest();
  const [id, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    String(headers[name]),
  );
  try {
    new Webhook(secret).verify(body, {
      'webhook-id': id ?? '',
      'webhook-timestamp': timestamp ?? '',
      'webhook-signature': signature ?? '',
    });
    return true;
  } catch {
    return false;
  }
}

beforeEach(async () => {
  await sql`delete from alarm_tests`;
  hooks.script(() => ({ kind: 'reply', status: 200 }));
});

describe('test alerts', () => {
  it('reach every destination, marked as a test, even in quiet hours', async () => {
    const workspace_id = await newWorkspace();
    await world.domain('alerts.test', workspace_id);
    const url = hooks.url;
    await settle(workspace_id, {
      emails: ['ada@alerts.test'],
      webhook_url: url,
      quiet_from: '00:00',
      quiet_until: '23:59',
    });
    const before = smtp.messages.length;

    const { results } = await test(workspace_id);
    await world.drain();

    expect(results).toEqual([
      { kind: 'email', destination: 'ada@alerts.test', accepted: true, detail: 'Email accepted for delivery' },
      {
        kind: 'webhook',
        destination: new URL(url).host,
        accepted: true,
        detail: expect.stringMatching(/^Webhook returned 200 in \d+ ms$/),
      },
    ]);
    expect(JSON.parse(lastRequest().body.toString())).toMatchObject({
      object: 'alarm_notice',
      alarms: [{ notice: 'test', rule: 'test', id: null }],
    });
    const [sent] = smtp.messages.slice(before);
    expect(sent?.raw.toString()).toMatch(/^From: alerts@alerts\.test\r$/m);
    expect(sent?.raw.toString()).toMatch(/^Subject: Test: Alert notifications\r$/m);
  });

  it('name the failure of each destination', async () => {
    const gone = await startWebhookSink();
    await gone.stop();
    const workspace_id = await newWorkspace();
    await settle(workspace_id, { webhook_url: gone.url, emails: ['ada@example.com'], from: null });
    await sql`update domains set status = 'pending' where workspace_id = ${workspace_id}`;

    const { results } = await test(workspace_id);
    await settle(workspace_id, { webhook_url: hooks.url });
    hooks.script(() => ({ kind: 'reply', status: 503 }));

    expect(results).toMatchObject([
      { accepted: false, detail: 'Email not sent: no verified domain' },
      { accepted: false, detail: 'Webhook: connection refused' },
    ]);
    expect((await test(workspace_id)).results[1]).toMatchObject({
      accepted: false,
      detail: expect.stringContaining('returned 503'),
    });
  });

  it('are neither sent nor counted without a destination', async () => {
    const workspace_id = await newWorkspace();

    expect(await test(workspace_id)).toEqual({ object: 'alarm_test', results: [] });
    expect(await sql`select from alarm_tests where workspace_id = ${workspace_id}`).toHaveLength(0);
  });

  it('need an operator for the instance, and reach the destinations of the environment', async () => {
    const { workspace_id, key_id } = await world.workspace('free');
    const scopes = ['admin'] as const;
    const actor = { kind: 'key', workspace_id, key_id, scopes, mode: 'live', domains: null } as const;
    const ctx = world.as(workspace_id);
    await settle(workspace_id, { webhook_url: hooks.url });
    const before = [hooks.requests.length, operator.requests.length];

    await expect(invoke({ ...ctx, actor }, sendTestAlarm, { access: 'instance' })).rejects.toMatchObject({
      code: 'forbidden',
    });
    const { results } = await invoke(ctx, sendTestAlarm, { access: 'instance' });

    expect(results.map(({ destination }) => destination)).toEqual(['grace@operator.test', new URL(operator.url).host]);
    expect([hooks.requests.length, operator.requests.length]).toEqual([before[0], (before[1] ?? 0) + 1]);
    expect(operator.requests.at(-1)?.headers['webhook-signature']).toBeUndefined();
  });
});

describe('an alert webhook', () => {
  it('is signed with a secret that is shown once, also by the previous one for a day after a rotation', async () => {
    const workspace_id = await newWorkspace();
    const { webhook_secret: first, webhook_secret_last4 } = await settle(workspace_id, { webhook_url: hooks.url });
    const again = await settle(workspace_id, { webhook_url: hooks.url, emails: [] });
    await test(workspace_id);
    const [stored] = await sql<{ webhook_secret: Buffer }[]>`
      select webhook_secret from alarm_settings where workspace_id = ${workspace_id}`;

    expect(first).toMatch(/^whsec_/);
    expect([again.webhook_secret, again.webhook_secret_last4]).toEqual([null, webhook_secret_last4]);
    expect(stored?.webhook_secret.includes(String(first))).toBe(false);
    expect(verifies(String(first))).toBe(true);

    const { webhook_secret: second } = await invoke(world.as(workspace_id), rotateAlarmSecret, { access: 'workspace' });
    await test(workspace_id);
    expect([verifies(String(first)), verifies(String(second))]).toEqual([true, true]);

    await sql`update alarm_settings set webhook_previous_until = clock_now() where workspace_id = ${workspace_id}`;
    await test(workspace_id);
    expect([verifies(String(first)), verifies(String(second))]).toEqual([false, true]);
  });

  it('gets real alerts signed in the same way, under one ID for every retry', async () => {
    const workspace_id = await newWorkspace();
    const { webhook_secret } = await settle(workspace_id, { webhook_url: hooks.url });
    await addNotices(workspace_id, 1, 'It failed.', '/');
    const notices = endAfterTests(createNotices(services));
    hooks.script(() => ({ kind: 'reply', status: 500 }));
    const before = hooks.requests.length;

    await notices.sendDue();
    await notices.idle();
    await sql`update notice_turns set next_at = clock_now() where workspace_id = ${workspace_id}`;
    await notices.sendDue();
    await notices.idle();

    const ids = hooks.requests.slice(before).map(({ headers }) => headers['webhook-id']);
    expect(ids).toEqual([expect.stringMatching(/^notice_[0-9a-f]{32}$/), ids[0]]);
    expect(verifies(String(webhook_secret))).toBe(true);
  });

  it('is still signed by the same secrets after SECRET_KEY has changed', async () => {
    const workspace_id = await newWorkspace();
    const { webhook_secret: first } = await settle(workspace_id, { webhook_url: hooks.url });
    const { webhook_secret: second } = await invoke(world.as(workspace_id), rotateAlarmSecret, { access: 'workspace' });
    const fresh = 'n'.repeat(40);
    const both = createEncryption(fresh, services.secret_key);

    await reencryptSecrets({ ...services, encryption: both }, { key_id: both.key_id.toString('hex') });
    const alone = { ...world.as(workspace_id), encryption: createEncryption(fresh) };
    await invoke(alone, sendTestAlarm, { access: 'workspace' });

    expect([verifies(String(first)), verifies(String(second))]).toEqual([true, true]);
    const back = createEncryption(services.secret_key, fresh);
    await reencryptSecrets({ ...services, encryption: back }, { key_id: back.key_id.toString('hex') });
    expect(await unopenedAlarmSecrets(services)).toEqual([]);
  });

  it('saved before secrets existed stays unsigned until one is created', async () => {
    const workspace_id = await newWorkspace();
    await sql`insert into alarm_settings (workspace_id, webhook_url) values (${workspace_id}, ${new URL(hooks.url).href})`;

    await settle(workspace_id, { webhook_url: hooks.url });
    await test(workspace_id);
    expect(lastRequest().headers['webhook-signature']).toBeUndefined();
    const { webhook_secret } = await invoke(world.as(workspace_id), rotateAlarmSecret, { access: 'workspace' });
    await test(workspace_id);

    expect(verifies(String(webhook_secret))).toBe(true);
  });

  it('loses its secret with its URL, and cannot be rotated without one', async () => {
    const workspace_id = await newWorkspace();
    const { webhook_secret: first } = await settle(workspace_id, { webhook_url: hooks.url });

    await settle(workspace_id, { webhook_url: null });
    await expect(invoke(world.as(workspace_id), rotateAlarmSecret, { access: 'workspace' })).rejects.toMatchObject({
      reason: 'webhook_not_found',
    });
    const { webhook_secret: second } = await settle(workspace_id, { webhook_url: hooks.url });

    expect(second).toMatch(/^whsec_/);
    expect(second).not.toBe(first);
  });

  it('gets escaped text without a signature in Slack’s format', async () => {
    const workspace_id = await newWorkspace();
    const saved = await settle(workspace_id, { webhook_url: hooks.url, webhook_format: 'slack' });
    await addNotices(workspace_id, 1, 'A <!channel> & @everyone > all', '/webhooks?a=1&b=2');
    const notices = endAfterTests(createNotices(services));

    await notices.sendDue();
    await notices.idle();

    expect(saved).toMatchObject({ webhook_format: 'slack', webhook_secret: null, webhook_secret_last4: null });
    expect(lastRequest().headers['webhook-signature']).toBeUndefined();
    expect(JSON.parse(lastRequest().body.toString())).toEqual({
      text:
        '*Alert: Webhook failing*\nA &lt;!channel&gt; &amp; @\u200beveryone &gt; all\n' +
        `<${services.public_url}/w/${workspace_id}/webhooks?a=1&amp;b=2>`,
    });
  });

  it('gets only as many alerts in one Slack message as Discord accepts', async () => {
    const workspace_id = await newWorkspace();
    await settle(workspace_id, { webhook_url: hooks.url, webhook_format: 'slack' });
    await addNotices(workspace_id, 20, '&'.repeat(2000), '/');
    const notices = endAfterTests(createNotices(services));

    await notices.sendDue();
    await notices.idle();

    const { text } = JSON.parse(lastRequest().body.toString()) as { text: string };
    expect(text.length).toBeLessThanOrEqual(2000);
    expect(text).toMatch(/\n\nand \d+ more$/);
  });

  it.each([
    ['https://hooks.slack.com/services/T0/B0/x', 'slack'],
    ['https://discord.com/api/webhooks/1/x/slack', 'slack'],
    ['https://discord.com/api/webhooks/1/x', 'json'],
    ['https://hooks.slack.com.example.com/', 'json'],
  ])('has a default format for %s: %s', async (webhook_url, webhook_format) => {
    const workspace_id = await newWorkspace();

    expect(await settle(workspace_id, { webhook_url })).toMatchObject({ webhook_format });
  });
});

describe('alert rules', () => {
  it('are listed with the thresholds that judge, and with what is active', async () => {
    const workspace_id = await newWorkspace();
    await sql`
      insert into alarms (id, workspace_id, rule, subject, status, detail, value, page, seen_since, started_at)
      values (${newId('alarm', clock.now())}, ${workspace_id}, 'quota_80', '', 'active', '', 1, '/', clock_now(), clock_now())`;
    const rules = await invoke(world.as(workspace_id), listAlarmRules, { access: 'workspace' });
    const own = new Map(rules.map((rule) => [rule.rule, rule]));

    expect(rules.every(({ access }) => access === 'workspace')).toBe(true);
    expect(own.get('quota_80')).toMatchObject({ active: 1, condition: 'At least 80% of the monthly quota is used.' });
    expect(own.get('webhook_fails')).toMatchObject({
      active: 0,
      condition: `No delivery to a webhook has succeeded for ${alarmRules.webhook_fails.raise / 60} min.`,
    });
    expect(own.has('no_worker')).toBe(false);
  });

  it('have their conditions in the documentation', () => {
    const page = readFileSync(alertRulesPage, 'utf8');

    expect(withAlertRules(page)).toBe(page);
  });

  it('include every rule about the instance for an operator', async () => {
    const rules = await invoke(world.as(world.workspace_id), listAlarmRules, { access: 'instance' });
    const conditions = Object.fromEntries(rules.map(({ rule, condition }) => [rule, condition]));

    expect(conditions).toMatchObject({
      first_attempt_slow_1h:
        'At least 14.4% of at least 50 first attempts in the last hour started more than 1 min late. Alerts after 2 min.',
      backlog_grows:
        'At least 1,000 jobs are ready in a queue, at least 20% more than 15 min earlier. Alerts after 15 min.',
      database_gone: 'A process has had no response from the database for 1 min.',
    });
    expect(conditions).not.toHaveProperty('quota_80');
  });
});

it('alert settings never return the secret', async () => {
  const workspace_id = await newWorkspace();
  const { webhook_secret } = await settle(workspace_id, { webhook_url: hooks.url });

  const settings = await invoke(world.as(workspace_id), getAlarmSettings, { access: 'workspace' });

  expect(JSON.stringify(settings)).not.toContain(String(webhook_secret));
  expect(settings.webhook_secret_last4).toBe(String(webhook_secret).slice(-4));
});

// Last, because a receiver compares the time of a signature with its own.
it('a test alert is limited to five per hour and workspace, counted over all processes', async () => {
  const [workspace_id, other] = [await newWorkspace(), await newWorkspace()];
  for (const id of [workspace_id, other]) await settle(id, { webhook_url: hooks.url });
  const peer = await world.peer();
  const callers = [world.as(workspace_id), { ...world.as(workspace_id), sql: peer.sql }];

  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, (_, number) =>
      invoke(callers[number % 2] ?? world.as(workspace_id), sendTestAlarm, { access: 'workspace' }),
    ),
  );

  const rejected = outcomes.filter((one) => one.status === 'rejected');
  expect(rejected).toHaveLength(3);
  expect(rejected[0]?.reason).toMatchObject({ reason: 'alarm_test_rate', code: 'rate_limited' });
  expect((await test(other)).results).toMatchObject([{ accepted: true }]);
  const [audit] = await sql<{ count: number }[]>`
    select count(*)::int as count from audit_log where workspace_id = ${workspace_id} and action = 'alarm.tested'`;
  expect(audit?.count).toBe(5);

  await clock.advance(HOUR_MS);
  expect((await test(workspace_id)).results).toMatchObject([{ accepted: true }]);
});
