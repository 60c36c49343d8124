import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { invoke, metricCatalogue, metricDefinition, type Services } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { createInstanceWatch } from '@postrider/core/metrics';
import { queueNames } from '@postrider/core/queues';
import { listenHttp } from '@postrider/testing';
import { endAfterTests, openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import openapi from '../../../docs/openapi.json' with { type: 'json' };
import { openMetricsEndpoint } from '../src/telemetry/metrics-endpoint.ts';
import { startMetricExport } from '../src/telemetry/otlp.ts';

const world = await openWorld();
const { services } = world;
const watch = createInstanceWatch(services, null);

async function serveMetrics(
  source_services: Services,
): Promise<{ readonly url: string; readonly local_port: number | null; stop(): Promise<void> }> {
  const endpoint = await openMetricsEndpoint(source_services, 3000);
  const listener = await listenHttp(endpoint.handler);
  return {
    url: `${listener.url}/metrics`,
    local_port: endpoint.port,
    async stop() {
      await listener.stop();
      await endpoint.stop();
    },
  };
}

const served = endAfterTests(await serveMetrics({ ...services, config: { ...services.config, METRICS_PORT: 0 } }));
const local = `http://127.0.0.1:${served.local_port}/metrics`;

const scrape = async (url: string, key?: string) => {
  const response = await fetch(url, { headers: key === undefined ? {} : { authorization: `Bearer ${key}` } });
  return { status: response.status, type: response.headers.get('content-type') ?? '', text: await response.text() };
};

it('the main port accepts a key with the operator scope, and rejects every other caller', async () => {
  const admin = await world.key({ scopes: ['admin'] });

  const [operator, other, none] = [
    await scrape(served.url, world.secret),
    await scrape(served.url, admin.secret),
    await scrape(served.url),
  ];

  expect(operator.status).toBe(200);
  expect(operator.type).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(other.status).toBe(403);
  expect(JSON.parse(other.text).error).toMatchObject({ code: 'forbidden', required_scope: 'operator' });
  expect(none.status).toBe(401);
  expect(JSON.parse(none.text).error).toMatchObject({ code: 'unauthorized', reason: 'missing_key' });
});

it('METRICS_PORT requires no key', async () => {
  const { status, text } = await scrape(local);

  expect(status).toBe(200);
  expect(text).toContain('# TYPE postrider_queue_jobs gauge');
  expect((await scrape(local.replace('/metrics', '/'))).status).toBe(404);
});

it('every metric in the catalog is exposed under its name, with the buckets listed there', async () => {
  const { text } = await scrape(local);

  const kinds = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, kind]) => [name, kind]));
  const expected = Object.keys(metricCatalogue).map((name) => [
    `postrider_${name}`,
    metricDefinition(name as keyof typeof metricCatalogue).kind,
  ]);
  expect([...kinds]).toEqual(expected);
  const [bounds] = [[...text.matchAll(/^postrider_accept_to_delivered_seconds_bucket\{.*le="([^"]+)"\}/gm)]];
  expect(bounds?.map(([, bound]) => bound)).toEqual(
    '0.1 0.5 1 5 15 30 60 120 300 600 1800 3600 14400 86400 +Inf'.split(' '),
  );
});

it('no series has a duplicate label, which Prometheus would reject', async () => {
  await watch.turn();

  const { text } = await scrape(local);

  const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const labels = series.map((line) => [...line.matchAll(/[{,](\w+)="/g)].map(([, label]) => label));
  expect(series.some((line) => line.startsWith('postrider_worker_live{role="worker",instance='))).toBe(true);
  expect(labels.filter((names) => new Set(names).size < names.length)).toEqual([]);
});

it("an email is counted from request to delivery, with the process's role and instance", async () => {
  await invoke(world.as(world.workspace_id), sendMessage, {
    from: 'shop@sandbox.test',
    to: 'ada@gmail.com',
    subject: 'Hello',
    text: 'Hello',
  });
  await world.drain();

  const { text } = await scrape(local);

  const lines = text.split('\n').filter((line) => !line.startsWith('#'));
  const line = (start: string) => lines.find((one) => one.startsWith(`postrider_${start}`)) ?? '';
  expect(line('messages_accepted_total{api="worker"')).toMatch(/,role="all",instance=".+:3000"\} 1$/);
  expect(line('smtp_attempts_total{outcome="accepted",class="none",provider="google"')).toMatch(/ 1$/);
  expect(line('transport_attempts_total{transport="default",outcome="accepted"')).toMatch(/ 1$/);
  expect(line('messages_finished_total{status="delivered"')).toMatch(/ 1$/);
  expect(line('accept_to_first_attempt_seconds_count')).toMatch(/ 1$/);
  expect(line('accept_to_delivered_seconds_count')).toMatch(/ 1$/);
  expect(line('smtp_phase_seconds_count{phase="data"')).toMatch(/ 1$/);
});

it('the metrics have at most 3,000 series for 10,000 destinations and 1,000 workspaces, and identify none of them', async () => {
  const { sql, metrics } = services;
  await sql`
    insert into workspaces (id, name, plan, created_at)
    select derived_id('wsp', no_id(), n::text), 'Many', 'free', clock_now() from generate_series(1, 1000) n`;
  await sql`
    insert into usage_months (workspace_id, month, used, monthly_limit)
    select id, date_trunc('month', clock_now() at time zone 'UTC')::date, 10, 3000 from workspaces
    on conflict do nothing`;
  await sql`
    insert into backlog_rows (workspace_id, dimension, key, total, counts, oldest_at)
    select no_id(), 'provider', 'provider ' || n, n, '{}', clock_now() from generate_series(1, 10000) n`;
  await watch.turn();
  for (let number = 0; number < 10_000; number++) {
    const provider = `destination-${number}.test`;
    metrics.count('smtp_attempts_total', ['accepted', 'none', provider]);
    metrics.count('http_requests_total', ['rest', `/path-${number}`, 'GET', '200']);
  }
  // Observes every histogram with every possible label.
  for (const route of Object.keys(openapi.paths)) metrics.observe('http_request_seconds', ['rest', route], 0.01);
  for (const queue of queueNames) {
    metrics.observe('queue_wait_seconds', [queue], 1);
    metrics.observe('queue_run_seconds', [queue], 1);
  }
  for (const phase of ['dns', 'connect', 'tls', 'mail', 'data']) metrics.observe('smtp_phase_seconds', [phase], 0.1);
  for (const operation of ['query', 'mutation', 'subscription']) metrics.observe('graphql_cost_points', [operation], 5);

  const { text } = await scrape(local);

  const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(series.length).toBeGreaterThan(1500);
  expect(series.length).toBeLessThanOrEqual(3000);
  expect(text.match(/^postrider_backlog_messages\{/gm)?.length).toBeLessThanOrEqual(13);
  expect(text).not.toMatch(/(?:wsp|msg|key)_\w{20}|@/);
});

it('OTLP sends the same metrics to a collector', async () => {
  const bodies: { readonly path: string; readonly text: string }[] = [];
  const collector = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    request.on('end', () => {
      bodies.push({ path: request.url ?? '', text });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const { port } = collector.address() as AddressInfo;
  const stop = startMetricExport(`http://127.0.0.1:${port}`, { role: 'worker', instance: 'here:1' }, () =>
    services.metrics.read(),
  );
  await stop();

  collector.closeAllConnections();
  await new Promise((resolve) => collector.close(resolve));
  expect(bodies.map(({ path }) => path)).toEqual(['/v1/metrics']);
  for (const name of Object.keys(metricCatalogue)) expect(bodies[0]?.text).toContain(`postrider_${name}`);
});
