import { createHandler as createAdmin } from '@postrider/admin';
import { invoke } from '@postrider/core';
import { verifyAudit } from '@postrider/core/audit';
import { freeWorker } from '@postrider/core/delivery';
import { listHolds, releaseHold } from '@postrider/core/holds';
import { connect, pendingMigrations, schemaVersion } from '@postrider/db';
import { createHandler as createRest } from '@postrider/rest';
import { createWorld, listenHttp, type World } from '@postrider/testing';
import { endAfterTests } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { ADMIN_SECRET, type Fixture, loadFixture, upgrade } from './fixture.ts';

type Json = Record<string, unknown>;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const fixture = await loadFixture();
await storeRejectedPasswords(fixture);
const ran = await upgrade(fixture);
const world = endAfterTests(await openUsed(fixture));
const { sql } = world.services;
const rest = endAfterTests(await listenHttp(createRest(world.services)));
const admin = endAfterTests(await listenHttp(createAdmin(world.services)));

/** Rewrites one rejected request as a password change, as releases before 0015 stored it. */
async function storeRejectedPasswords({ database }: Fixture): Promise<void> {
  const before = connect(database.url, { max: 1, application_name: 'postrider-test-load' });
  await before`
    update requests set api = 'trpc', path = 'people.changePassword', body = '{"new_password":"short"}'
    where id = (select min(id::text)::uuid from requests)`;
  await before.end();
}

function openUsed({ database, at }: Fixture): Promise<World> {
  return createWorld({ BOOTSTRAP_API_KEY: ADMIN_SECRET, DELIVERY: 'capture' }, { database, at });
}

const headers = { authorization: `Bearer ${ADMIN_SECRET}`, 'content-type': 'application/json' };

async function get(path: string): Promise<Json> {
  const response = await fetch(`${rest.url}/v1${path}`, { headers });
  expect(response.status, path).toBe(200);
  return (await response.json()) as Json;
}

async function list(path: string): Promise<Json[]> {
  return (await get(path)).data as Json[];
}

async function ask(query: string): Promise<Json> {
  const response = await fetch(`${admin.url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
  const { data, errors } = (await response.json()) as { data: Json; errors?: unknown };
  expect(errors, query).toBeUndefined();
  return data;
}

describe('a baseline database with 10,000 emails', () => {
  it('is migrated to the latest schema', async () => {
    expect(ran).not.toContain('0001_baseline');
    expect(await pendingMigrations(sql)).toEqual([]);
    expect(await schemaVersion(sql)).toBe(ran.at(-1) ?? '0001_baseline');
  });

  it('stores no password from a rejected change', async () => {
    const rows = await sql<{ body: string | null }[]>`
      select body from requests where api = 'trpc' and path = 'people.changePassword'`;

    expect([...rows]).toEqual([{ body: null }]);
  });

  it('shows its email in every state', async () => {
    const states = [
      'scheduled',
      'queued',
      'deferred',
      'sending',
      'failed',
      'bounced',
      'complained',
      'suppressed',
      'canceled',
      'delivered',
    ];
    for (const state of states) {
      const message = (await list(`/email/logs?status=${state}`)).find(({ status }) => status === state);
      expect(message, state).toMatchObject({ object: 'email' });
      const entry = await get(`/email/${message?.id}`);
      expect(entry.events, state).not.toEqual([]);
      expect(await get(`/email/${message?.id}/content`), state).toMatchObject({ text: expect.any(String) });
    }
    const [full] = await list('/email/logs?tag=full&status=bounced');
    expect(full).toMatchObject({ metadata: { order: '1' }, cc: ['cc@example.com'], tags: ['full'] });
    expect(await list('/email/logs?tag=receipt&limit=100')).toHaveLength(100);
    const [late_email] = await list('/email/logs?tag=late');
    const { attempts } = (await get(`/email/${late_email?.id}`)) as { attempts: Json[] };
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['deferred', 'accepted']);
  });

  it('shows every other type of object over REST', async () => {
    const kinds: Record<string, string> = {
      '/webhooks': 'webhook',
      '/suppressions': 'suppression',
      '/api-keys': 'api_key',
      '/domains': 'domain',
      '/captures': 'capture',
      '/requests': 'request',
    };
    for (const [path, object] of Object.entries(kinds)) {
      expect((await list(path))[0], path).toMatchObject({ object });
    }
    expect(await list('/events?limit=100')).toHaveLength(100);
    const webhooks = await list('/webhooks');
    expect(webhooks.map(({ status }) => status).sort()).toEqual([
      'disabled',
      'disabled',
      'enabled',
      'enabled',
      'enabled',
    ]);
    const lists = await Promise.all(webhooks.map(({ id }) => list(`/webhooks/${id}/deliveries?limit=100`)));
    const deliveries = lists.flat();
    expect(new Set(deliveries.map(({ status }) => status))).toEqual(new Set(['delivered', 'failed', 'pending']));
    const succeeded = deliveries.find(({ status, attempts }) => status === 'delivered' && Number(attempts) > 1);
    expect(
      await ask(`{ node(id: "${succeeded?.id}") { ... on WebhookDelivery { posts: attempts { responseStatus } } } }`),
    ).toEqual({
      node: {
        posts: [...Array(Number(succeeded?.attempts) - 1).fill({ responseStatus: 503 }), { responseStatus: 200 }],
      },
    });
    for (const kind of ['captures', 'requests', 'webhooks']) {
      const [one] = await list(`/${kind}`);
      expect(await get(`/${kind}/${one?.id}`), kind).toMatchObject({ id: one?.id });
    }
    const domains = { acme: 'verified', recovered: 'verified', pending: 'pending', moved: 'failed' };
    for (const [name, status] of Object.entries({ ...domains, suspended: 'suspended', 'at-risk': 'at_risk' }))
      expect(await get(`/domains/${name}.test`), name).toMatchObject({ status });
    const keys = await list('/api-keys?limit=100');
    expect(new Set(keys.map(({ status }) => status))).toEqual(new Set(['active', 'revoked', 'expired']));
    const sources = (await list('/suppressions?limit=100')).map(({ source }) => source);
    expect(new Set(sources)).toEqual(new Set(['manual', 'import', 'bounce', 'complaint']));
    expect((await get('/usage')).used).toBeGreaterThan(10_000);
    expect(await get('/api-keys/current')).toMatchObject({ object: 'api_key' });
    expect(await get('/stats')).toMatchObject({ object: 'stats' });
  });

  it('shows operator data over GraphQL', async () => {
    const nodes = (await ask(`{
      workspaces { nodes { id name } } members { nodes { role } } operators { nodes { __typename } }
      auditLog { nodes { id action } } bulkOperations { nodes { id status } } webhookDeliveries { nodes { id } }
    }`)) as Record<string, { nodes: Json[] }>;
    for (const [field, { nodes: items }] of Object.entries(nodes)) expect(items.length, field).toBeGreaterThan(0);
    expect(nodes.workspaces?.nodes).toHaveLength(2);
    expect(nodes.bulkOperations?.nodes.map(({ status }) => status).sort()).toEqual([
      'CANCELED',
      'COMPLETED',
      'RUNNING',
    ]);
    const a_day_before = new Date(fixture.at.getTime() - DAY_MS).toISOString();
    const rows = (await ask(`{
      plans { name } holds(active: false) { scope } destinations { name } queues { name } schedules { name }
      alarms(active: false) { rule status }
      failureGroups(kind: SMTP, range: { since: "${a_day_before}" }) { kind }
      failedJobs: failureGroups(kind: JOB, reach: INSTANCE, range: { since: "${a_day_before}" }) { kind }
    }`)) as Record<string, Json[]>;
    for (const [field, items] of Object.entries(rows)) expect(items.length, field).toBeGreaterThan(0);
    expect(rows.holds).toHaveLength(6);
    expect(new Set(rows.holds?.map(({ scope }) => scope)).size).toBe(5);
    expect(new Set(rows.alarms?.map(({ status }) => status))).toEqual(new Set(['ACTIVE', 'ENDED']));
    expect(
      await ask(`{ jobs(filter: { state: DEAD }) { nodes { queue { name } attempts { number error } } } }`),
    ).toEqual({
      jobs: { nodes: [{ queue: { name: 'numbers.roll_up' }, attempts: [{ number: 1, error: expect.anything() }] }] },
    });
    expect(await ask('{ alarmSettings { emails } }')).toEqual({ alarmSettings: { emails: ['oncall@acme.test'] } });
    expect(await invoke(world.as(world.workspace_id), verifyAudit, {})).toMatchObject({ broken: null, complete: true });
  });

  it('sends each open email once, and sends new email as before', async () => {
    const open = await sql<{ name: string }[]>`
      select '<' || id_text(r.message_id) || '@' || m.from_domain || '> ' || r.email as name
      from recipients r join messages m on m.workspace_id = r.workspace_id and m.id = r.message_id where r.is_open`;
    expect(open).toHaveLength(50);

    for (const { worker } of await sql<{ worker: string }[]>`select worker from delivery_workers`) {
      await world.clock.advance(MINUTE_MS);
      await freeWorker(world.services, worker, 1);
    }
    const holds = await invoke(world.as(world.workspace_id), listHolds, {});
    for (const { id, status } of holds.data.filter((hold) => hold.status === 'active'))
      expect(await invoke(world.as(world.workspace_id), releaseHold, { hold_id: id, reason: 'checked' })).not.toEqual(
        status,
      );
    const response = await fetch(`${rest.url}/v1/email/send`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        from: 'hello@acme.test',
        to: 'new@example.com',
        subject: 'New',
        text: 'Hi',
        tags: ['full'],
      }),
    });
    expect(response.status).toBe(202);
    for (let day = 0; day <= 45; day++) {
      await world.drain();
      await world.clock.advance(DAY_MS);
    }

    const sent = world.smtp.messages.map((mail) => `${mail.message_id} ${mail.envelope_to.join()}`);
    const { id } = (await response.json()) as { id: string };
    const expected = [...open.map(({ name }) => name), `<${id}@acme.test> new@example.com`];
    expect(sent.toSorted()).toEqual(expected.toSorted());
    expect(await sql`select state, count(*)::int as count from recipients where is_open group by state`).toEqual([]);
    expect((await world.signatures({ raw: world.smtp.messages[0]?.raw ?? Buffer.alloc(0) }))[0]).toMatch(
      /^pass rsa-sha256/,
    );
  });
});
