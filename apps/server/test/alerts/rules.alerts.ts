import { readFileSync } from 'node:fs';
import { startWebhookSink, type WebhookSink } from '@postrider/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, type Journey, openJourney } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';
import { OFFSET_SECONDS, type Prometheus, promtool, startPrometheus } from './prometheus.ts';

// Instance gauges are read every 15 s, and stale queues are measured every 30 s.
const PATIENCE = { timeout: 75_000, interval: 500 };
const fileOf = (name: string) => readFileSync(new URL(`../../../../deploy/${name}`, import.meta.url), 'utf8');
const alerts = [...fileOf('prometheus/alerts.yml').matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);

describe('promtool', () => {
  it.each([
    ['check', 'rules', 'alerts.yml'],
    ['check', 'config', 'prometheus.yml'],
    ['test', 'rules', 'alerts.test.yml'],
  ])('%s %s %s', (...words) => {
    const { status, output } = promtool(...words);

    expect(output).toContain('SUCCESS');
    expect(status).toBe(0);
  });
});

/** Takes the instance through one state after another, starting from a healthy one. */
describe('a running instance', () => {
  let journey: Journey;
  let hooks: WebhookSink;
  let prometheus: Prometheus;
  let api: ServerProcess;
  let worker: ServerProcess;
  let worker_port = '0';
  const fired = new Set<string>();

  const startWorker = () => journey.start({ ROLES: 'worker', METRICS_PORT: worker_port });
  const fires = async (...names: string[]) => {
    await expect.poll(() => prometheus.firing(), PATIENCE).toEqual(expect.arrayContaining(names));
    for (const name of names) fired.add(name);
  };
  const send = async (count: number, extraOf: (number: number) => object = () => ({})) => {
    const messages = Array.from({ length: count }, (_, number) => ({ ...hello, ...extraOf(number) }));
    for (let at = 0; at < count; at += 100) {
      const { status } = await api.call('POST', '/v1/email/batch', {
        body: { messages: messages.slice(at, at + 100) },
      });
      expect(status).toBe(202);
    }
  };

  beforeAll(async () => {
    journey = await openJourney({ WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8', LOG_LEVEL: 'warn' });
    hooks = await startWebhookSink();
    api = await journey.start({ ROLES: 'rest,admin', METRICS_PORT: '0' });
    worker = await startWorker();
    worker_port = String(worker.portOf('Metrics'));
    prometheus = await startPrometheus([api, worker].map((one) => `127.0.0.1:${one.portOf('Metrics')}`));
  });
  afterAll(async () => {
    await prometheus.stop();
    await hooks.stop();
    await journey.stop();
  });

  it("fires no alert while healthy, with every rule evaluated by Debian's Prometheus", async () => {
    await expect
      .poll(() => prometheus.query('sum(up)'), PATIENCE)
      .toMatchObject([{ value: [expect.any(Number), '2'] }]);
    await expect
      .poll(() => prometheus.query('min(postrider_worker_live{role=~"rest|worker"})'), PATIENCE)
      .toMatchObject([{ value: [expect.any(Number), '1'] }]);
    await expect
      .poll(() => prometheus.query(`postrider_queue_jobs offset ${OFFSET_SECONDS}s`), PATIENCE)
      .not.toEqual([]);

    expect(await prometheus.rules()).toEqual(alerts.map((name) => expect.objectContaining({ name, health: 'ok' })));
    expect(await prometheus.firing()).toEqual([]);
  });

  it('exports the instance gauges from one process at a time', async () => {
    const samples = await prometheus.query('count(postrider_quota_used_ratio)');

    expect(samples).toMatchObject([{ value: [expect.any(Number), '1'] }]);
  });

  it('fires for a hold, a domain that lost a record, and an exhausted monthly quota', async () => {
    const { sql } = journey;
    await sql`update domains set status = 'at_risk' where name = 'good.test'`;
    const [workspace] = await sql<{ id: string }[]>`select id from workspaces order by id limit 1`;
    await sql`
      with other as (
        insert into workspaces (id, name, plan, created_at)
        values (gen_random_uuid(), 'Used up', 'free', clock_now()) returning id
      )
      insert into usage_months (workspace_id, month, used, monthly_limit)
      select id, date_trunc('month', clock_now() at time zone 'UTC')::date, 60, 60 from other`;
    await sql`
      insert into holds (id, workspace_id, scope, value, reason, created_by_kind, created_by_name, by_operator,
        created_at, expires_at)
      values (gen_random_uuid(), ${workspace?.id ?? ''}, 'destination', 'slow.test', 'Outage', 'system', 'Postrider', true,
        clock_now(), clock_now() + interval '1 day')`;

    await fires('PostriderHoldOld', 'PostriderDomainRegressed');
    await fires('PostriderQuota80', 'PostriderQuota95', 'PostriderQuota100');
  });

  it('fires for failing and disabled webhooks', async () => {
    hooks.script(({ path }) => ({ kind: 'reply', status: path === '/gone' ? 410 : 500 }));
    for (const path of ['/gone', '/broken']) {
      const { status } = await api.call('POST', '/v1/webhooks', {
        body: { url: `${new URL(hooks.url).origin}${path}` },
      });
      expect(status).toBe(201);
    }
    // Prometheus counts increases only after it first sees a series, so sending continues.
    const firing = () => send(1).then(() => prometheus.firing());
    const names = ['PostriderWebhooksFail', 'PostriderWebhookDisabled'];
    const rules_fired = new Set<string>();
    const missing = async () => {
      for (const name of await firing()) rules_fired.add(name);
      return names.filter((name) => !rules_fired.has(name));
    };

    await expect.poll(missing, PATIENCE).toEqual([]);
    for (const name of names) fired.add(name);
  });

  it('fires for a provider that defers email', async () => {
    journey.smtp.script(() => ({ kind: 'reply', code: 452, text: '4.2.2 The mailbox is full' }));
    const toGoogle = (number: number) => ({ to: `ada${number}@gmail.com` });
    await send(10, toGoogle);
    // Prometheus counts increases only after it first sees a series.
    await expect
      .poll(() => prometheus.query('postrider_smtp_attempts_total{outcome="deferred",provider="google"}'), PATIENCE)
      .not.toEqual([]);
    await send(200, toGoogle);

    await fires('PostriderOneFailureDominates', 'PostriderProviderDefers');
  });

  it('fires for lost jobs', async () => {
    await journey.sql`delete from pgboss.job where name = 'delivery.attempt'`;
    await journey.sql`update recipients set due_at = clock_now() - interval '2 minutes' where is_open`;

    await fires('PostriderInvariantViolated');
    journey.smtp.script(() => ({ kind: 'accept' }));
  });

  it('fires for dead jobs', async () => {
    await journey.sql`
      insert into pgboss.job (name, data, state) values ('webhook.recover', '{"webhook_id": "whk_none"}', 'failed')`;

    await fires('PostriderDeadJobsGrow');
  });

  it('fires for transactions waiting for a connection', async () => {
    let responses: Promise<unknown> = Promise.resolve();
    await journey.sql.begin(async (tx) => {
      await tx`lock table suppressions in access exclusive mode`;
      const requests = Array.from({ length: 80 }, (_, number) =>
        api.call('POST', '/v1/suppressions', { body: { email: `ada${number}@example.com` } }),
      );
      responses = Promise.all(requests);
      // The server aborts transactions that idle for too long.
      const firing = () => tx`select 1`.then(() => prometheus.firing());
      await expect.poll(firing, PATIENCE).toContain('PostriderPoolWaits');
      fired.add('PostriderPoolWaits');
    });
    await responses;
  });

  it('fires if email is accepted without a worker', async () => {
    await worker.end();
    await send(1, () => ({ scheduled_at: new Date(Date.now() + 90_000).toISOString() }));
    await send(1500);

    await fires('PostriderNoWorker', 'PostriderBacklogGrows');
  });

  it('fires for email that has waited too long, independently of the process clock', async () => {
    await journey.clock.advance(6 * 60_000);

    await fires('PostriderQueueWaits', 'PostriderScheduledLate', 'PostriderClockSkew');
  });

  it('fires for late first attempts', async () => {
    const [latest] = await journey.sql<{ at: Date }[]>`select max(created_at) as at from messages`;
    const late_ms = (latest?.at.getTime() ?? 0) + 61_000;
    await expect.poll(() => Date.now(), PATIENCE).toBeGreaterThan(late_ms);
    worker = await startWorker();

    await fires('PostriderFirstAttemptsSlow1h', 'PostriderFirstAttemptsSlow6h');
  });

  it('exposes every metric used by the board and the alert rules', async () => {
    await journey.sql`update plans set logs_per_minute = 1`;
    for (const _ of [1, 2, 3]) await api.call('GET', '/v1/email/logs');
    await api.call('POST', '/graphql', { body: { query: '{ __typename }' } });
    const names = new Set(
      ['grafana/postrider.json', 'prometheus/alerts.yml'].flatMap(
        (name) => fileOf(name).match(/\bpostrider_\w+/g) ?? [],
      ),
    );

    const missing = async () => {
      const counts = await Promise.all([...names].map((name) => prometheus.query(`last_over_time(${name}[1h])`)));
      return [...names].filter((_, index) => counts[index]?.length === 0);
    };

    await expect.poll(missing, PATIENCE).toEqual([]);
  });

  it('fires when it is down', async () => {
    await Promise.all([worker.end(), api.end()]);

    await fires('PostriderGone');
    expect([...fired].sort()).toEqual(alerts.toSorted());
  });
});
