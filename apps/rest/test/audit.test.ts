import { invoke } from '@postrider/core';
import { type AuditAction, listAudit } from '@postrider/core/audit';
import { recordCapture } from '@postrider/core/captures';
import { createWorld, startWebhookSink, type WebhookSink, type World } from '@postrider/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { routes } from '../src/routes.ts';
import { type RestServer, startRest } from './rest-server.ts';

const HOUR_MS = 3_600_000;

let world: World;
let rest: RestServer;
let sink: WebhookSink;
beforeAll(open);
afterAll(close);

async function open(): Promise<void> {
  world = await createWorld();
  sink = await startWebhookSink({ now: world.clock.now });
  rest = await startRest(world.services, world.secret);
  await world.domain('good.test');
  await world.clock.freeze(new Date('2031-05-10T12:00:05.000Z'));
}
beforeEach(() => world.clock.advance(60_000));
async function close(): Promise<void> {
  await rest.stop();
  await sink.stop();
  await world.stop();
}

interface AuditedRequest {
  readonly path: string;
  readonly body?: unknown;
  /** The ID in the log entry. If the request creates the target, this is the `id` in its response. */
  readonly target_id?: string;
}

interface AuditCase {
  readonly action: AuditAction;
  /** Creates what the request needs and returns the request to send. */
  prepare(): Promise<AuditedRequest> | AuditedRequest;
  readonly refused: AuditedRequest;
  /** Text that must not appear in the log. */
  readonly hidden?: readonly string[];
}

async function create(path: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await rest.call('POST', path, { body });
  expect(response.status, response.text).toBeLessThan(300);
  return response.body;
}

const mail = { from: 'hello@good.test', to: 'ada@example.com', subject: 'Hush', text: 'between us' };
const inAnHour = () => new Date(world.clock.now() + HOUR_MS).toISOString();
const sent = async (fields: object = {}) => String((await create('/email/send', { ...mail, ...fields })).id);
const hook = async () => String((await create('/webhooks', { url: sink.url, events: ['email.queued'] })).id);
let count = 0;
const fresh = () => `n${++count}.test`;
const domain = async () => {
  const { id, name } = await create('/domains', { name: fresh() });
  return { id: String(id), name: String(name) };
};

/**
 * Null if the request changes nothing, is logged as a message, or concerns captured messages, which are deleted after a
 * week anyway.
 */
const surface: Record<string, AuditCase | null> = {
  'POST /email/send': null,
  'POST /email/batch': null,
  'GET /email/logs': null,
  'GET /email/logs/{id}': null,
  'GET /email/{id}': null,
  'PATCH /email/{id}': {
    action: 'message.rescheduled',
    async prepare() {
      const id = await sent({ scheduled_at: inAnHour() });
      return { path: `/email/${id}`, body: { scheduled_at: inAnHour() }, target_id: id };
    },
    refused: { path: '/email/msg_none', body: { scheduled_at: '2031-05-11T12:00:00Z' } },
    hidden: ['Hush', 'ada@example.com'],
  },
  'POST /email/{id}/cancel': {
    action: 'message.canceled',
    async prepare() {
      const id = await sent();
      return { path: `/email/${id}/cancel`, target_id: id };
    },
    refused: { path: '/email/msg_none/cancel' },
    hidden: ['Hush', 'ada@example.com'],
  },
  'POST /email/{id}/give-up': {
    action: 'message.given_up',
    async prepare() {
      const id = await sent();
      const { sql } = world.services;
      await sql`update recipients set state = 'deferred', due_at = clock_now() + interval '1 hour' where message_id = ${id}`;
      await sql`update messages set status = 'deferred' where id = ${id}`;
      return { path: `/email/${id}/give-up`, target_id: id };
    },
    refused: { path: '/email/msg_none/give-up' },
    hidden: ['Hush', 'ada@example.com'],
  },
  'POST /email/{id}/resend': {
    action: 'message.resent',
    async prepare() {
      const id = await sent();
      return { path: `/email/${id}/resend`, target_id: id };
    },
    refused: { path: '/email/msg_none/resend' },
    hidden: ['Hush', 'ada@example.com'],
  },
  'GET /email/{id}/content': {
    action: 'message.content_read',
    async prepare() {
      const id = await sent();
      return { path: `/email/${id}/content`, target_id: id };
    },
    refused: { path: '/email/msg_none/content' },
    hidden: ['between us'],
  },
  'GET /events': null,
  'GET /webhooks': null,
  'POST /webhooks': {
    action: 'webhook.created',
    prepare: () => ({ path: '/webhooks', body: { url: `${sink.url}/hook-token?key=hook-key` } }),
    refused: { path: '/webhooks', body: { url: 'http://user:pass@example.com' } },
    hidden: ['hook-token', 'hook-key', 'whsec_'],
  },
  'GET /webhooks/{id}': null,
  'PATCH /webhooks/{id}': {
    action: 'webhook.updated',
    async prepare() {
      const id = await hook();
      return { path: `/webhooks/${id}`, body: { url: `${sink.url}/other-token`, description: 'new' }, target_id: id };
    },
    refused: { path: '/webhooks/whk_none', body: { description: 'new' } },
    hidden: ['other-token'],
  },
  'DELETE /webhooks/{id}': {
    action: 'webhook.deleted',
    async prepare() {
      const id = await hook();
      return { path: `/webhooks/${id}`, target_id: id };
    },
    refused: { path: '/webhooks/whk_none' },
  },
  'POST /webhooks/{id}/test': {
    action: 'webhook.tested',
    async prepare() {
      const id = await hook();
      return { path: `/webhooks/${id}/test`, target_id: id };
    },
    refused: { path: '/webhooks/whk_none/test' },
  },
  'POST /webhooks/{id}/rotate-secret': {
    action: 'webhook.secret_rotated',
    async prepare() {
      const id = await hook();
      return { path: `/webhooks/${id}/rotate-secret`, target_id: id };
    },
    refused: { path: '/webhooks/whk_none/rotate-secret' },
    hidden: ['whsec_'],
  },
  'POST /webhooks/{id}/recover': {
    action: 'webhook.recovered',
    async prepare() {
      const id = await hook();
      return { path: `/webhooks/${id}/recover`, body: { since: '2031-05-10T00:00:00Z' }, target_id: id };
    },
    refused: { path: '/webhooks/whk_none/recover', body: { since: '2031-05-10T00:00:00Z' } },
  },
  'GET /webhooks/{id}/deliveries': null,
  'GET /webhooks/{id}/deliveries/{delivery_id}': null,
  'POST /webhooks/{id}/deliveries/{delivery_id}/replay': {
    action: 'delivery.replayed',
    async prepare() {
      const id = await hook();
      const delivery_id = String((await create(`/webhooks/${id}/test`, {})).id);
      return { path: `/webhooks/${id}/deliveries/${delivery_id}/replay`, target_id: delivery_id };
    },
    refused: { path: '/webhooks/whk_none/deliveries/whd_none/replay' },
  },
  'GET /suppressions': null,
  'POST /suppressions': {
    action: 'suppression.added',
    prepare: () => ({ path: '/suppressions', body: { email: `a@${fresh()}`, reason: 'asked by phone' } }),
    refused: { path: '/suppressions', body: { email: 'a@b.test', expires_at: '2030-01-01T00:00:00Z' } },
  },
  'DELETE /suppressions/{email}': {
    action: 'suppression.removed',
    async prepare() {
      const { id, email } = await create('/suppressions', { email: `a@${fresh()}` });
      return { path: `/suppressions/${email}`, target_id: String(id) };
    },
    refused: { path: '/suppressions/nobody@example.com' },
  },
  'GET /api-keys': null,
  'GET /api-keys/current': null,
  'POST /api-keys': {
    action: 'api_key.created',
    prepare: () => ({ path: '/api-keys', body: { name: 'Shop', scopes: ['email:send'] } }),
    refused: { path: '/api-keys', body: { name: 'Shop', scopes: ['everything'] } },
    hidden: ['pr_live_'],
  },
  'POST /api-keys/{key_id}/rotate': {
    action: 'api_key.rotated',
    async prepare() {
      const id = String((await create('/api-keys', { name: 'Shop', scopes: ['email:send'] })).id);
      return { path: `/api-keys/${id}/rotate` };
    },
    refused: { path: '/api-keys/key_none/rotate' },
    hidden: ['pr_live_'],
  },
  'DELETE /api-keys/{key_id}': {
    action: 'api_key.revoked',
    async prepare() {
      const id = String((await create('/api-keys', { name: 'Shop', scopes: ['email:send'] })).id);
      return { path: `/api-keys/${id}`, target_id: id };
    },
    refused: { path: '/api-keys/key_none' },
  },
  'GET /domains': null,
  'POST /domains': {
    action: 'domain.added',
    prepare: () => ({ path: '/domains', body: { name: fresh() } }),
    refused: { path: '/domains', body: { name: 'good.test' } },
  },
  'GET /domains/{domain}': null,
  'GET /domains/{domain}/doctor': null,
  'DELETE /domains/{domain}': {
    action: 'domain.removed',
    async prepare() {
      const { id, name } = await domain();
      return { path: `/domains/${name}`, target_id: id };
    },
    refused: { path: '/domains/sandbox.test' },
  },
  'POST /domains/{domain}/verify': {
    action: 'domain.checked',
    async prepare() {
      const { id, name } = await domain();
      return { path: `/domains/${name}/verify`, target_id: id };
    },
    refused: { path: '/domains/none.test/verify' },
  },
  'PATCH /domains/{domain}': {
    action: 'domain.updated',
    async prepare() {
      const { id, name } = await domain();
      return { path: `/domains/${name}`, body: { dkim_ed25519: true }, target_id: id };
    },
    refused: { path: '/domains/sandbox.test', body: { dkim_ed25519: true } },
  },
  'POST /domains/{domain}/rotate-keys': {
    action: 'domain.keys_rotated',
    async prepare() {
      const { id, name } = await domain();
      return { path: `/domains/${name}/rotate-keys`, target_id: id };
    },
    refused: { path: '/domains/sandbox.test/rotate-keys' },
  },
  'GET /usage': null,
  'GET /stats': null,
  'GET /erasures/{id}': null,
  'POST /erasures': {
    action: 'erasure.started',
    prepare: () => ({ path: '/erasures', body: { email: 'ada@example.com' } }),
    refused: { path: '/erasures', body: { email: 'no-address' } },
    hidden: ['ada@example.com'],
  },
  'GET /requests': null,
  'GET /requests/{id}': null,
  'GET /captures': null,
  'GET /captures/{id}': {
    action: 'message.content_read',
    async prepare() {
      const raw = Buffer.from('Subject: Hush\r\n\r\nbetween us');
      await recordCapture(world.services, { envelope_from: 'a@good.test', envelope_to: ['ada@example.com'], raw });
      const { body } = await rest.call('GET', '/captures');
      const [{ id }] = body.data as [{ id: string }];
      return { path: `/captures/${id}`, target_id: id };
    },
    refused: { path: '/captures/cap_none' },
    hidden: ['Hush', 'ada@example.com'],
  },
  'DELETE /captures': null,
  'DELETE /captures/{id}': null,
  'POST /captures/{id}/release': null,
};

/**
 * Returns the log, newest first by sequence: the clock is frozen, and IDs from the same millisecond have no defined
 * order.
 */
async function log() {
  const { data } = await invoke(world.as(world.workspace_id), listAudit, { limit: 100 });
  return data.toSorted((left, right) => right.sequence - left.sequence);
}
const logLength = async () => (await log())[0]?.sequence ?? 0;

describe('an API operation', () => {
  it('is covered by this test', () => {
    expect(Object.keys(surface).sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
  });

  for (const [route, audited] of Object.entries(surface)) {
    if (audited === null) continue;
    const method = route.slice(0, route.indexOf(' '));

    it(`leaves one audit entry when it succeeds, and none when it is rejected: ${route}`, async () => {
      const { path, body, target_id } = await audited.prepare();
      const before = await logLength();

      const reply = await rest.call(method, path, { body });
      const response = await rest.call(method, audited.refused.path, { body: audited.refused.body });

      expect(reply.status, reply.text).toBeLessThan(300);
      expect(response.status, response.text).toBeGreaterThanOrEqual(400);
      const [entry] = await log();
      expect(entry?.sequence).toBe(before + 1);
      expect(entry).toMatchObject({
        action: audited.action,
        target_id: target_id ?? reply.body.id,
        actor: { kind: 'key', name: 'First key' },
        via: 'rest',
        address: '127.0.0.1',
        request_id: reply.headers.get('x-request-id'),
      });
      // The entry must not contain recipient addresses either, because the chain cannot be erased.
      expect(`${entry?.target_id} ${JSON.stringify(entry?.diff)}`).not.toContain('@');
      for (const hidden of audited.hidden ?? []) expect(JSON.stringify(entry)).not.toContain(hidden);
    });
  }

  it('leaves no audit entry if it changes nothing', async () => {
    const id = await sent({ scheduled_at: inAnHour() });
    await rest.call('POST', `/email/${id}/cancel`);
    const key = await create('/api-keys', { name: 'Shop', scopes: ['email:send'] });
    await rest.call('DELETE', `/api-keys/${key.id}`);
    const webhook = await hook();
    const before = await logLength();

    const repeats = [
      await rest.call('POST', `/email/${id}/cancel`),
      await rest.call('DELETE', `/api-keys/${key.id}`),
      await rest.call('PATCH', `/webhooks/${webhook}`, { body: { status: 'enabled' } }),
    ];

    expect(repeats.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await logLength()).toBe(before);
  });
});

describe('a resend', () => {
  it('is sent and logged once when repeated under its Idempotency-Key', async () => {
    const id = await sent();
    const before = await logLength();
    const repeat = () => rest.call('POST', `/email/${id}/resend`, { headers: { 'idempotency-key': 'once' } });

    const responses = await Promise.all([repeat(), repeat(), repeat()]);

    const [resent_as, ...others] = new Set(responses.map(({ body }) => body.id));
    expect(others).toEqual([]);
    expect(await logLength()).toBe(before + 1);
    expect((await log())[0]).toMatchObject({ action: 'message.resent', target_id: id, diff: { resent_as } });
  });
});

describe('an import', () => {
  it('leaves one entry with the number of added addresses, but without the addresses', async () => {
    const suppressions = ['x@import.test', 'y@import.test', 'x@import.test'].map((email) => ({ email }));
    await rest.call('POST', '/suppressions', { body: { suppressions } });

    const [entry] = await log();
    expect(entry).toMatchObject({ action: 'suppression.imported', diff: { added: 2, refused: 1 } });
    expect(JSON.stringify(entry)).not.toContain('import.test');
  });
});
