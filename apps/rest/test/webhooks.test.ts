import { giveUpDeliveries, oweRange } from '@postrider/core/webhooks';
import { type SinkRequest, startWebhookSink, type WebhookSink } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fillWindow } from './rate-windows.ts';
import { type ApiResponse, type CallOptions, detailsOf, errorOf, openRest, rateOf } from './rest-server.ts';

const MINUTE_MS = 60_000;

const world = await openWorld();
const rest = await openRest(world);
let sink: WebhookSink;

beforeAll(async () => {
  sink = await startWebhookSink({ now: world.clock.now });
  await world.clock.freeze(new Date(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS + 5000));
});
beforeEach(async () => {
  await world.clock.advance(MINUTE_MS);
  sink.script(() => ({ kind: 'reply', status: 200 }));
});
afterAll(async () => {
  await sink.stop();
});

const add = (body: unknown, options: CallOptions = {}) => rest.call('POST', '/webhooks', { body, ...options });
const idOf = (response: ApiResponse) => String(response.body.id);

/** Processes the due jobs as a worker would. */
async function recover() {
  const jobs = await world.services.jobs.fetch('webhook.recover', 10);
  for (const { data } of jobs) await oweRange(world.services, data);
}

async function close() {
  const jobs = await world.services.jobs.fetch('webhook.close', 100);
  for (const { data } of jobs) await giveUpDeliveries(world.services, data.webhook_id);
}

/** Creates a separate workspace that may send, with one endpoint. */
async function home(events: unknown = ['email.queued']) {
  const { secret: key, workspace_id } = await world.workspace('business');
  await world.domain(`m${workspace_id.slice(-8)}.test`, workspace_id);
  const mail = { from: `a@m${workspace_id.slice(-8)}.test`, to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
  const url = `${sink.url}/${workspace_id}`;
  const webhook = await add({ url, events }, { key });
  expect(webhook.status, webhook.text).toBe(201);
  return {
    key,
    mail,
    id: idOf(webhook),
    secret: String(webhook.body.secret),
    send: () => rest.call('POST', '/email/send', { key, body: mail }),
    posted: () => sink.requests.filter(({ path }) => path === `/${workspace_id}`),
    call: (method: string, path: string, body?: unknown) => rest.call(method, path, { key, body }),
  };
}

function entriesOf(response: ApiResponse): Record<string, unknown>[] {
  expect(response.status, response.text).toBe(200);
  return response.body.data as Record<string, unknown>[];
}

describe('201', () => {
  it("a new endpoint's secret is shown once and stored encrypted", async () => {
    const { key, id, secret, call } = await home();

    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const response = await call('GET', `/webhooks/${id}`);
    expect(response.body).toMatchObject({ object: 'webhook', id, status: 'enabled', secret_last4: secret.slice(-4) });
    expect(response.text).not.toContain(secret);
    expect(rateOf(response, world.clock.now()).limit).toBe(120);
    const stored = await world.services.sql<{ row: string }[]>`
      select row_to_json(w)::text || encode(secret, 'escape') as row from webhooks w where id = ${id}`;
    expect(stored[0]?.row).toContain(secret.slice(-4));
    expect(stored[0]?.row).not.toContain(secret.slice(6, 20));
    expect(JSON.stringify(world.logged)).not.toContain(secret);
    expect((await rest.call('GET', `/webhooks/${id}`, { key: world.secret })).status).toBe(404);
    expect((await rest.call('GET', '/webhooks', { key })).body.data).toEqual([response.body]);
  });

  it('all event types are selected if none is specified, and the URL is normalized', async () => {
    const { key } = await home();

    const response = await add({ url: 'HTTP://LOCALHOST:4000/a/../b?x=1', description: 'Shop' }, { key });

    expect(response.body).toMatchObject({ url: 'http://localhost:4000/b?x=1', events: 'all', description: 'Shop' });
    expect((await add({ url: 'http://localhost:4000', events: 'all' }, { key })).body.events).toBe('all');
  });
});

describe('null', () => {
  it('means absent for every optional field', async () => {
    const { key, id } = await home();
    const unset_fields = { events: null, description: null, format: null, mode: null };

    const added = await add({ url: 'http://localhost:4000', ...unset_fields }, { key });
    expect([added.status, added.body]).toMatchObject([201, { events: 'all', format: 'postrider', mode: 'live' }]);
    await rest.call('PATCH', `/webhooks/${id}`, { key, body: { events: ['email.bounced'] } });
    const changed = await rest.call('PATCH', `/webhooks/${id}`, {
      key,
      body: { url: null, events: null, status: null },
    });
    expect([changed.status, changed.body]).toMatchObject([200, { events: ['email.bounced'], status: 'enabled' }]);
    const all = await rest.call('PATCH', `/webhooks/${id}`, { key, body: { events: 'all' } });
    expect(all.body.events).toBe('all');
  });
});

describe('200', () => {
  it('the list shows endpoints newest first, page by page', async () => {
    const { key, id } = await home();
    await world.clock.advance(1);
    const second = idOf(await add({ url: 'http://localhost:4000' }, { key }));

    const page = await rest.call('GET', '/webhooks?limit=1', { key });

    expect(entriesOf(page).map((entry) => entry.id)).toEqual([second]);
    const remaining = await rest.call('GET', `/webhooks?limit=1&cursor=${page.body.next_cursor}`, { key });
    expect(entriesOf(remaining).map((entry) => entry.id)).toEqual([id]);
    expect(remaining.body).toMatchObject({ has_more: false, next_cursor: null });
  });

  it('an update changes the specified fields and preserves the rest', async () => {
    const { id, call } = await home();

    const response = await call('PATCH', `/webhooks/${id}`, { events: ['email.bounced'], description: 'Shop' });

    expect(response.body).toMatchObject({ id, events: ['email.bounced'], description: 'Shop', status: 'enabled' });
    expect((await call('PATCH', `/webhooks/${id}`, { description: null })).body).toMatchObject({
      events: ['email.bounced'],
      description: null,
    });
    expect((await call('PATCH', `/webhooks/${id}`, { events: 'all' })).body.events).toBe('all');
  });

  it('a disabled endpoint gets no posts, and gets the missed ones through a recovery', async () => {
    const { id, call, send, posted } = await home();
    const since = new Date(world.clock.now()).toISOString();
    expect((await call('PATCH', `/webhooks/${id}`, { status: 'disabled' })).body).toMatchObject({
      status: 'disabled',
      status_reason: 'manual',
    });
    const missed = await send();
    await world.postWebhooks();
    expect(posted()).toEqual([]);
    await call('PATCH', `/webhooks/${id}`, { status: 'enabled' });
    await world.postWebhooks();
    expect(posted()).toEqual([]);
    await world.clock.advance(1);

    const response = await call('POST', `/webhooks/${id}/recover`, { since });

    expect(response.body).toEqual({
      object: 'webhook_recovery',
      webhook_id: id,
      since,
      until: new Date(world.clock.now()).toISOString(),
      status: 'started',
    });
    await recover();
    await world.postWebhooks();
    expect(posted().map(({ body }) => JSON.parse(body.toString()).data.email.id)).toEqual([missed.body.id]);
    await call('POST', `/webhooks/${id}/recover`, { since });
    await recover();
    expect(await world.postWebhooks()).toBe(0);
  });

  it('a recovery includes failed deliveries in the range, but no successful ones', async () => {
    const { id, call, send, posted } = await home();
    await send();
    await world.postWebhooks();
    await world.clock.advance(1000);
    const since = new Date(world.clock.now()).toISOString();
    await send();
    await call('PATCH', `/webhooks/${id}`, { status: 'disabled' });
    await close();
    expect(entriesOf(await call('GET', `/webhooks/${id}/deliveries?status=failed`))).toHaveLength(1);
    await call('PATCH', `/webhooks/${id}`, { status: 'enabled' });
    await world.clock.advance(1000);
    const until = new Date(world.clock.now()).toISOString();
    await world.clock.advance(1000);

    await call('POST', `/webhooks/${id}/recover`, { since, until });
    await recover();

    expect(await world.postWebhooks()).toBe(1);
    expect(posted()).toHaveLength(2);
    expect(new Set(posted().map(({ headers }) => headers['webhook-id'])).size).toBe(2);
  });

  it('an endpoint receives and recovers only events in its own mode, live or sandbox', async () => {
    const { id, key, mail, call, posted } = await home();
    const since = new Date(world.clock.now()).toISOString();
    const test_key = await call('POST', '/api-keys', {
      name: 'Tests',
      scopes: ['email:send', 'webhooks:manage'],
      mode: 'sandbox',
    });
    const sandbox = String(test_key.body.secret);
    const place = sandbox.slice(-8);
    const events = ['email.queued'];
    const own = await add({ url: `${sink.url}/own-${place}`, events }, { key: sandbox });
    const sandbox_webhook = await call('POST', '/webhooks', {
      url: `${sink.url}/chosen-${place}`,
      events,
      mode: 'sandbox',
    });
    const messagesOf = (requests: readonly SinkRequest[]) =>
      requests.map(({ body }) => String(JSON.parse(body.toString()).data.email.id)).sort();
    const messagesAt = (path: string) => messagesOf(sink.requests.filter((request) => request.path === path));
    const idsOf = (responses: readonly ApiResponse[]) => responses.map(({ body }) => String(body.id)).sort();
    const sendAll = (with_key: string) =>
      Promise.all(Array.from({ length: 3 }, () => rest.call('POST', '/email/send', { key: with_key, body: mail })));

    const [live, tests] = await Promise.all([sendAll(key), sendAll(sandbox)]);
    await world.postWebhooks();

    expect([own.body.mode, sandbox_webhook.body.mode]).toEqual(['sandbox', 'sandbox']);
    expect((await call('GET', `/webhooks/${id}`)).body.mode).toBe('live');
    expect(messagesOf(posted())).toEqual(idsOf(live));
    expect(messagesAt(`/own-${place}`)).toEqual(idsOf(tests));
    expect(messagesAt(`/chosen-${place}`)).toEqual(idsOf(tests));
    await world.clock.advance(1);
    for (const webhook of [id, own.body.id, sandbox_webhook.body.id])
      await call('POST', `/webhooks/${webhook}/recover`, { since });
    await recover();
    expect(await world.postWebhooks()).toBe(0);
  });

  it('a test request posts an example of the requested type, marked as a test', async () => {
    const { id, call, posted } = await home(['email.bounced']);

    const response = await call('POST', `/webhooks/${id}/test`, { type: 'email.complained' });

    expect(response.body).toMatchObject({ object: 'webhook_delivery', webhook_id: id, status: 'pending', attempts: 0 });
    await world.postWebhooks();
    const [request] = posted();
    expect(JSON.parse(String(request?.body))).toMatchObject({
      id: response.body.event_id,
      type: 'email.complained',
      data: { test: true, recipient: { status: 'complained' } },
    });
    expect(request?.headers['webhook-id']).toBe(response.body.event_id);
    expect((await call('POST', `/webhooks/${id}/test`)).body.event_type).toBe('email.delivered');
  });

  it('deliveries are listed with their outcome, can be filtered by status, and are replayed under the same id', async () => {
    const { id, call, send, posted } = await home();
    sink.script(({ nth }) => ({ kind: 'reply', status: nth === 1 ? 500 : 200, body: 'Oh\r\nno' }));
    await send();
    await world.postWebhooks();
    await world.clock.advance(1000);
    await send();
    await world.postWebhooks();

    const all = entriesOf(await call('GET', `/webhooks/${id}/deliveries`));
    expect(all).toMatchObject([
      {
        status: 'delivered',
        attempts: 1,
        response_status: 200,
        duration_ms: expect.any(Number),
        next_attempt_at: null,
      },
      { status: 'pending', attempts: 1, response_status: 500, response_body: 'Oh no', finished_at: null },
    ]);
    expect(entriesOf(await call('GET', `/webhooks/${id}/deliveries?status=delivered,failed`))).toEqual([all[0]]);
    const page = await call('GET', `/webhooks/${id}/deliveries?limit=1`);
    expect(entriesOf(await call('GET', `/webhooks/${id}/deliveries?limit=1&cursor=${page.body.next_cursor}`))).toEqual([
      all[1],
    ]);

    const replayed = await call('POST', `/webhooks/${id}/deliveries/${all[0]?.id}/replay`);
    expect(replayed.body).toMatchObject({ id: all[0]?.id, event_id: all[0]?.event_id, status: 'pending', attempts: 0 });
    await world.postWebhooks();
    expect(posted().map(({ headers }) => headers['webhook-id'])).toEqual([
      all[1]?.event_id,
      all[0]?.event_id,
      all[0]?.event_id,
    ]);
  });

  it('a delivery is shown with its request and all attempts, to sandbox keys too', async () => {
    const { call, mail } = await home();
    const test_key = await call('POST', '/api-keys', {
      name: 'Tests',
      scopes: ['email:send', 'webhooks:manage'],
      mode: 'sandbox',
    });
    const key = String(test_key.body.secret);
    const id = idOf(await add({ url: `${sink.url}/detail-${key.slice(-8)}`, events: ['email.queued'] }, { key }));
    sink.script(() => ({ kind: 'reply', status: 503, body: 'later' }));
    const sent = await rest.call('POST', '/email/send', { key, body: mail });
    await world.postWebhooks();
    sink.script(() => ({ kind: 'reply', status: 200, body: 'noted' }));
    await world.clock.advance(MINUTE_MS);
    await world.postWebhooks();
    const [entry] = entriesOf(await rest.call('GET', `/webhooks/${id}/deliveries`, { key }));

    const response = await rest.call('GET', `/webhooks/${id}/deliveries/${entry?.id}`, { key });

    expect(response.status, response.text).toBe(200);
    expect(response.body).toMatchObject({
      ...entry,
      status: 'delivered',
      url: `${sink.url}/detail-${key.slice(-8)}`,
      request_body: { id: entry?.event_id, type: 'email.queued', data: { email: { id: sent.body.id } } },
      posts: [
        {
          number: 1,
          request_headers: { 'webhook-id': entry?.event_id },
          response_status: 503,
          response_headers: expect.any(Object),
          response_body: 'later',
        },
        { number: 2, response_status: 200, response_body: 'noted', error: null },
      ],
    });
  });

  it('a rotated secret is used alongside the old secret for a day', async () => {
    const { id, secret, call, send, posted } = await home();

    const rotated = await call('POST', `/webhooks/${id}/rotate-secret`);

    expect(rotated.body.secret).not.toBe(secret);
    expect(rotated.body.previous_secret_until).toBe(new Date(world.clock.now() + 24 * 60 * MINUTE_MS).toISOString());
    await send();
    await world.postWebhooks();
    await world.clock.advance(24 * 60 * MINUTE_MS);
    await send();
    await world.postWebhooks();
    const signatures = posted().map(({ headers }) => String(headers['webhook-signature']).split(' ').length);
    expect(signatures).toEqual([2, 1]);
    expect((await call('GET', `/webhooks/${id}`)).body.previous_secret_until).toBe(null);
  });

  it('a deleted endpoint gets no new posts, and its deliveries are deleted', async () => {
    const { id, call, send, posted } = await home();
    await send();

    const response = await call('DELETE', `/webhooks/${id}`);

    expect(response.body).toEqual({ object: 'webhook', id, deleted: true });
    await send();
    await world.postWebhooks();
    await world.clock.advance(24 * 60 * MINUTE_MS);
    await world.postWebhooks();
    expect(posted()).toEqual([]);
    expect((await call('GET', `/webhooks/${id}/deliveries`)).status).toBe(404);
    expect((await call('DELETE', `/webhooks/${id}`)).status).toBe(404);
    await close();
    const open = await world.services
      .sql`select from webhook_deliveries where webhook_id = ${id} and state = 'pending'`;
    expect(open).toHaveLength(0);
  });
});

describe('400', () => {
  it.each([
    ['no url at all', {}, ['url missing_field']],
    ['a relative one', { url: '/hook' }, ['url invalid_url']],
    ['a user and a password', { url: 'https://a:b@example.com' }, ['url invalid_url']],
    ['a file', { url: 'file:///etc/passwd' }, ['url invalid_url']],
    ['gopher', { url: 'gopher://example.com' }, ['url invalid_url']],
    ['ssh', { url: 'http://example.com:22' }, ['url invalid_url']],
    ['smtp', { url: 'http://example.com:25' }, ['url invalid_url']],
    ['redis', { url: 'http://example.com:6379' }, ['url invalid_url']],
    ['a host that is no public name (newcomer N19)', { url: 'https://exa' }, ['url invalid_url']],
    ['a fragment', { url: 'https://example.com/#x' }, ['url invalid_url']],
    ['a line break', { url: 'https://example.com/a\r\nb' }, ['url invalid_url']],
    ['a line break at its end', { url: 'https://example.com/\n' }, ['url invalid_url']],
    ['a tab', { url: 'https://exam\tple.com/' }, ['url invalid_url']],
    ['a control character', { url: 'https://example.com/\u0085' }, ['url invalid_url']],
    ['a label of 64 characters', { url: `https://${'a'.repeat(64)}.com` }, ['url invalid_url']],
    ['a host of 254 characters', { url: `https://${'ab.'.repeat(84)}de` }, ['url invalid_url']],
    ['an unknown type', { url: 'https://example.com', events: ['email.opened'] }, ['events invalid_type']],
    ['no types', { url: 'https://example.com', events: [] }, ['events invalid_type']],
    ['types that are none', { url: 'https://example.com', events: 7 }, ['events invalid_type']],
  ])('an endpoint with %s is rejected', async (_, body, details) => {
    const response = await add(body);

    expect(response.status).toBe(400);
    expect(detailsOf(response)).toEqual(details);
  });

  it('an invalid range, status or limit is rejected', async () => {
    const { id, call } = await home();

    const range = await call('POST', `/webhooks/${id}/recover`, {
      since: '2030-01-01T00:00:00Z',
      until: '2029-01-01T00:00:00Z',
    });

    expect(detailsOf(range)).toEqual(['until invalid_timestamp']);
    expect(detailsOf(await call('POST', `/webhooks/${id}/recover`, {}))).toEqual(['since missing_field']);
    expect(errorOf(await call('GET', `/webhooks/${id}/deliveries?status=lost`)).reason).toBe('invalid_status');
    expect(errorOf(await call('GET', '/webhooks?limit=0')).reason).toBe('invalid_limit');
    expect(errorOf(await call('GET', '/webhooks?cursor=x')).reason).toBe('invalid_cursor');
    expect(detailsOf(await call('PATCH', `/webhooks/${id}`, { status: 'paused' }))).toEqual(['status invalid_type']);
    expect(detailsOf(await call('POST', `/webhooks/${id}/test`, { type: 'x' }))).toEqual(['type invalid_type']);
  });
});

describe('401', () => {
  it('a key is required', async () => {
    expect((await add({ url: 'https://example.com' }, { key: null })).status).toBe(401);
  });
});

describe('403', () => {
  it('the webhooks:manage scope is required for every operation', async () => {
    const { secret: key } = await world.key({ scopes: ['email:send', 'email:logs:read', 'domains:write'] });
    const { id } = await home();
    const calls = [
      ['GET', '/webhooks'],
      ['POST', '/webhooks'],
      ['GET', `/webhooks/${id}`],
      ['PATCH', `/webhooks/${id}`],
      ['DELETE', `/webhooks/${id}`],
      ['POST', `/webhooks/${id}/test`],
      ['POST', `/webhooks/${id}/rotate-secret`],
      ['POST', `/webhooks/${id}/recover`],
      ['GET', `/webhooks/${id}/deliveries`],
      ['GET', `/webhooks/${id}/deliveries/x`],
      ['POST', `/webhooks/${id}/deliveries/x/replay`],
    ] as const;

    for (const [method, path] of calls) {
      const response = await rest.call(method, path, { key });
      expect(response.status, `${method} ${path}`).toBe(403);
      expect(errorOf(response).required_scope).toBe('webhooks:manage');
    }
  });
});

describe('404', () => {
  it('endpoints in other workspaces, and their deliveries, are hidden', async () => {
    const { id, call, send } = await home();
    await send();
    const [delivery] = entriesOf(await call('GET', `/webhooks/${id}/deliveries`));
    const stranger = await home();
    const calls = [
      ['GET', `/webhooks/${id}`],
      ['PATCH', `/webhooks/${id}`],
      ['DELETE', `/webhooks/${id}`],
      ['POST', `/webhooks/${id}/test`],
      ['POST', `/webhooks/${id}/rotate-secret`],
      ['GET', `/webhooks/${id}/deliveries`],
      ['POST', `/webhooks/${id}/deliveries/${delivery?.id}/replay`],
    ] as const;

    for (const [method, path] of calls) {
      const response = await stranger.call(method, path, method === 'PATCH' ? { description: 'x' } : undefined);
      expect(errorOf(response).reason, `${method} ${path}`).toBe('webhook_not_found');
    }
    const since = { since: '2020-01-01T00:00:00Z' };
    expect(errorOf(await stranger.call('POST', `/webhooks/${id}/recover`, since)).reason).toBe('webhook_not_found');
    const foreign = await stranger.call('POST', `/webhooks/${stranger.id}/deliveries/${delivery?.id}/replay`);
    expect(errorOf(foreign).reason).toBe('delivery_not_found');
  });

  it('a delivery is shown only under its own endpoint, in its own workspace and mode', async () => {
    const { id, call, send } = await home();
    await send();
    const [delivery] = entriesOf(await call('GET', `/webhooks/${id}/deliveries`));
    const second = idOf(await call('POST', '/webhooks', { url: `${sink.url}/second` }));
    const stranger = await home();
    const test_key = await call('POST', '/api-keys', { name: 'Tests', scopes: ['webhooks:manage'], mode: 'sandbox' });
    const read = (webhook: string, options: CallOptions) =>
      rest.call('GET', `/webhooks/${webhook}/deliveries/${delivery?.id}`, options);

    expect((await call('GET', `/webhooks/${id}/deliveries/${delivery?.id}`)).status).toBe(200);
    const refusals = [
      await call('GET', `/webhooks/${second}/deliveries/${delivery?.id}`),
      await call('GET', `/webhooks/whk_none/deliveries/${delivery?.id}`),
      await read(id, { key: stranger.key }),
      await read(stranger.id, { key: stranger.key }),
      await read(id, { key: String(test_key.body.secret) }),
    ];

    expect(refusals.map((response) => [response.status, errorOf(response).reason])).toEqual(
      Array(5).fill([404, 'delivery_not_found']),
    );
  });
});

describe('422', () => {
  it('a workspace is limited to ten endpoints per mode, even under concurrent requests', async () => {
    const { secret: key } = await world.workspace('free');

    const responses = await Promise.all(
      Array.from({ length: 14 }, (_, index) => add({ url: `http://localhost:4000/${index}` }, { key })),
    );

    expect(responses.filter(({ status }) => status === 201)).toHaveLength(10);
    const rejected = responses.filter(({ status }) => status === 422);
    expect(rejected.map((response) => errorOf(response).reason)).toEqual(Array(4).fill('webhook_limit'));
  });

  it('sandbox endpoints count separately from live ones', async () => {
    const { secret: live } = await world.workspace('free');
    const live_key = await rest.call('POST', '/api-keys', {
      key: live,
      body: { name: 'Tests', scopes: ['webhooks:manage'], mode: 'sandbox' },
    });
    const sandbox = String(live_key.body.secret);
    const addMany = (key: string, body: object, count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, index) => add({ url: `http://localhost:4000/${index}`, ...body }, { key })),
      );

    const tests = await addMany(sandbox, {}, 11);
    const sandbox_webhook = await addMany(live, { mode: 'sandbox' }, 1);
    const lives = await addMany(live, {}, 11);

    const statuses = (responses: readonly ApiResponse[]) => responses.map(({ status }) => status).sort();
    const ten_and_a_refusal = [...Array(10).fill(201), 422];
    expect([statuses(tests), statuses(lives)]).toEqual([ten_and_a_refusal, ten_and_a_refusal]);
    for (const [responses, mode] of [
      [tests, 'sandbox'],
      [sandbox_webhook, 'sandbox'],
      [lives, 'live'],
    ] as const) {
      const rejected = responses.filter(({ status }) => status === 422);
      expect(
        rejected.map((response) => errorOf(response)),
        mode,
      ).toMatchObject([{ reason: 'webhook_limit', message: expect.stringContaining(`10 ${mode} webhooks`) }]);
    }
  });

  it.each([
    'http://10.0.0.1',
    'http://192.168.1.1',
    'http://172.16.0.1',
    'http://169.254.169.254/latest/meta-data/',
    'http://100.64.0.1',
    'http://0.0.0.0',
    'http://224.0.0.1',
    'http://[fd00::1]',
    'http://[fe80::1]',
    'http://[::]',
    'http://[::ffff:0a00:1]',
    'http://[64:ff9b::a00:1]',
    'http://167772161',
    'http://0xa.1',
    'http://012.0.0.1',
    'http://10.1',
    'http://①⓪.0.0.1',
    'http://10。0。0。1',
  ])('the URL %s is rejected', async (url) => {
    const response = await add({ url });

    expect(response.status, response.text).toBe(422);
    expect(errorOf(response).reason).toBe('private_address');
  });

  it('a name that resolves to a private address is rejected, but an unresolvable one is accepted', async () => {
    world.dns.set('inside.test', 'A', ['203.0.113.9', '10.0.0.1']);

    const response = await add({ url: 'https://inside.test/hook' });
    expect(errorOf(response).reason).toBe('private_address');
    expect(response.text).toContain('inside.test resolves to an address that is not public');
    expect(response.text).not.toContain('10.0.0.1');
    const second_hook = await add({ url: 'https://later.test/hook' });
    expect(second_hook.status).toBe(201);
    const moved = await rest.call('PATCH', `/webhooks/${idOf(second_hook)}`, {
      body: { url: 'https://inside.test/hook' },
    });
    expect(errorOf(moved).reason).toBe('private_address');
  });

  it('a disabled webhook cannot be tested, replayed or recovered', async () => {
    const { id, call, send } = await home();
    await send();
    const [delivery] = entriesOf(await call('GET', `/webhooks/${id}/deliveries`));
    await call('PATCH', `/webhooks/${id}`, { status: 'disabled' });

    const since = { since: '2020-01-01T00:00:00Z' };
    const responses = [
      await call('POST', `/webhooks/${id}/test`),
      await call('POST', `/webhooks/${id}/recover`, since),
      await call('POST', `/webhooks/${id}/deliveries/${delivery?.id}/replay`),
    ];

    expect(responses.map((response) => errorOf(response).reason)).toEqual(Array(3).fill('webhook_disabled'));
  });
});

describe('429', () => {
  it('requests count toward the default rate limit', async () => {
    const { id, secret: key } = await world.key({ scopes: ['webhooks:manage'] });
    await fillWindow(world, id, 'default', 118);

    const statuses = [
      (await rest.call('GET', '/webhooks', { key })).status,
      (await add({}, { key })).status,
      (await rest.call('DELETE', '/webhooks/x', { key })).status,
    ];

    expect(statuses).toEqual([200, 400, 429]);
  });
});
