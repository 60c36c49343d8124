import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startWebhookSink, type WebhookSink } from '@postrider/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, type Journey, openJourney, statesOf } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

const ROLE = `application_journey_${process.pid}`;
const DAY_MS = 86_400_000;

const COMMAND_LINE = fileURLToPath(new URL('../../../../packages/cli/src/main.ts', import.meta.url));

let journey: Journey;
let database_url: string;
let sink: WebhookSink;
let api: ServerProcess;
let worker: ServerProcess;
beforeAll(async () => {
  journey = await openJourney({
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
    RETENTION_MESSAGES: '30d',
    RETENTION_BODIES: '30d',
    RETENTION_EVENTS: '30d',
  });
  sink = await startWebhookSink();
  await journey.sql`create role ${journey.sql(ROLE)} login password 'application'`;
  await journey.sql`select grant_application(${ROLE})`;
  const url = new URL(journey.env.DATABASE_URL ?? '');
  url.username = ROLE;
  url.password = 'application';
  database_url = url.href;
  api = await journey.start({ DATABASE_URL: url.href, ROLES: 'rest,admin' });
  worker = await journey.start({ DATABASE_URL: url.href, ROLES: 'worker,inbound' });
});
afterAll(async () => {
  await api.end();
  await worker.end();
  await journey.sql`drop owned by ${journey.sql(ROLE)}`;
  await journey.sql`drop role ${journey.sql(ROLE)}`;
  await journey.stop();
  await sink.stop();
});

async function rest(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const response = await api.call(method, `/v1${path}`, { body });
  expect(response.status, response.text).toBeLessThan(300);
  return response.body;
}

/** Runs a mutation, selecting these fields of a successful result. */
async function mutate(name: string, type: string, success: string, input: object): Promise<Record<string, unknown>> {
  const query = `mutation ($input: ${type}!) { done: ${name}(input: $input) { ... on ${success} } }`;
  const { body, text } = await api.call('POST', '/graphql', { body: { query, variables: { input } } });
  const { done } = (body.data ?? {}) as { done?: Record<string, unknown> };
  expect(Object.keys(done ?? {}), text).not.toEqual([]);
  return done ?? {};
}

describe('processes with a database role that owns nothing', () => {
  it('are ready, and report the schema version', async () => {
    const [row] = await journey.sql<
      { schema: string }[]
    >`select name as schema from migrations order by name desc limit 1`;

    for (const server of [api, worker])
      expect((await server.call('GET', '/readyz')).body).toMatchObject({ database: 'ok', migrations: 'ok', ...row });
  });

  it('may run migrate before each start, as long as nothing is pending', async () => {
    const env = { DATABASE_URL: database_url, SECRET_KEY: journey.env.SECRET_KEY ?? '' };

    const { stdout } = await promisify(execFile)(process.execPath, [COMMAND_LINE, 'migrate', '--json'], { env });

    expect(JSON.parse(stdout)).toMatchObject({ ran: [] });
  });

  it('accept email, deliver it, and post its events', async () => {
    await rest('POST', '/webhooks', { url: `${sink.url}/hook`, events: ['email.delivered'] });

    const messages = Array.from({ length: 20 }, (_, number) => ({ ...hello, subject: `Mail ${number}` }));
    await rest('POST', '/email/batch', { messages });

    await expect.poll(() => statesOf(journey.sql)).toEqual({ delivered: 20 });
    await sink.waitFor(20);
    expect(journey.smtp.messages).toHaveLength(20);
  });

  it('complete a bulk operation', async () => {
    const scheduled_at = new Date(journey.clock.now() + DAY_MS).toISOString();
    const messages = Array.from({ length: 5 }, () => ({ ...hello, tags: ['later'], scheduled_at }));
    await rest('POST', '/email/batch', { messages });

    const preview = { action: 'CANCEL', messages: { tags: ['later'] } };
    const { token } = await mutate('bulkPreview', 'BulkInput', 'BulkPreview { token }', preview);
    const run = { token, reason: 'a mistake', ratePerSecond: 100 };
    await mutate('bulkRun', 'BulkRunInput', 'BulkPayload { bulk { id } }', run);

    await expect.poll(() => statesOf(journey.sql)).toEqual({ canceled: 5, delivered: 20 });
  });

  it('erase an address', async () => {
    const { id } = await rest('POST', '/erasures', { email: hello.to });

    await expect.poll(async () => (await rest('GET', `/erasures/${id}`)).status).toBe('completed');
    expect(await journey.sql`select from recipients where email = ${hello.to}`).toEqual([]);
  });

  it('drop expired data, and create partitions that the role does not own', async () => {
    const { sql } = journey;
    await sql`select ensure_all_partitions(clock_now() - interval '65 days')`;
    const [old] = await sql<{ id: string; partition: string; next: string }[]>`
      select derived_id('msg', id_floor(clock_now() - interval '65 days'), 'old') as id,
        partition_name('messages', 'month', clock_now() - interval '65 days') as partition,
        partition_name('messages', 'month',
          (date_trunc('month', clock_now() at time zone 'UTC') + interval '2 months') at time zone 'UTC') as next`;
    const { id, partition, next } = old ?? { id: '', partition: '', next: '' };
    await sql`
      insert into messages
      select (jsonb_populate_record(null::messages, to_jsonb(m) || jsonb_build_object('id', ${id}::uuid))).*
      from messages m limit 1`;
    await sql`drop table ${sql(next)}`;
    expect(await sql`select from ${sql(partition)}`).toHaveLength(1);

    const schedule = { name: 'storage.maintain', reason: 'tried out' };
    await mutate('scheduleRunNow', 'ScheduleInput', 'JobPayload { job { id } }', schedule);

    const isThere = async (table: string) => {
      const [row] = await sql<{ there: boolean }[]>`select to_regclass(${table}) is not null as there`;
      return row?.there;
    };
    await expect.poll(() => isThere(partition)).toBe(false);
    await expect.poll(() => isThere(next)).toBe(true);
    expect(await sql`select from messages`).toHaveLength(25);
    expect(await sql`select from pg_class where relowner = ${ROLE}::regrole`).toEqual([]);
  });

  it('connect under no other role, and are denied nothing', async () => {
    const users = await journey.sql<{ usename: string }[]>`
      select distinct usename from pg_stat_activity
      where datname = current_database() and application_name like 'postrider%'
        and application_name <> 'postrider-journey'`;

    expect(users).toEqual([{ usename: ROLE }]);
    const log = api.stderr() + worker.stderr();
    expect(log).not.toContain('permission denied');
    expect(log).not.toContain('must be owner');
  });
});
