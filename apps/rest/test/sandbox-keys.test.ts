import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { routes } from '../src/routes.ts';
import { openRaw, requestHead } from './raw-http.ts';
import { type ApiResponse, errorOf, openRest } from './rest-server.ts';

const world = await openWorld();
const rest = await openRest(world);

const mail = { from: 'shop@sandbox.test', to: 'a@example.com', subject: 'Hello', text: 'Hi' };

describe('an idempotency key', () => {
  it('is independent between sandbox and live keys', async () => {
    const sandbox = await world.key({ scopes: ['email:send'], mode: 'sandbox' });
    const live = await world.key({ scopes: ['email:send'] });
    const ask = (key: string) =>
      rest.call('POST', '/email/send', { key, body: mail, headers: { 'idempotency-key': 'order-1815' } });

    const first = [await ask(sandbox.secret), await ask(live.secret)];
    const repeats = [await ask(sandbox.secret), await ask(live.secret)];

    expect(first.map(({ status }) => status)).toEqual([202, 202]);
    expect(first[0]?.body.id).not.toBe(first[1]?.body.id);
    expect(repeats.map(({ body }) => body.id)).toEqual(first.map(({ body }) => body.id));
  });

  it('replays no response to an API key that may not send from that domain', async () => {
    const free = await world.key({ scopes: ['email:send'] });
    const bound = await world.key({ scopes: ['email:send'], domains: ['other.example.org'] });
    const ask = (key: string) =>
      rest.call('POST', '/email/send', { key, body: mail, headers: { 'idempotency-key': 'order-1816' } });

    const first = await ask(free.secret);
    const second = await ask(bound.secret);

    expect([first.status, second.status, errorOf(second).reason]).toEqual([202, 403, 'key_domain_restricted']);
  });
});

describe('a sandbox key', () => {
  it('may ask ten times as often as a live key, by the limits of the plan', async () => {
    const sandbox = await world.key({ scopes: ['admin'], mode: 'sandbox' });
    const live = await world.key({ scopes: ['admin'] });
    const limitOf = async (path: string, key: string) =>
      Number((await rest.call('GET', path, { key })).headers.get('x-ratelimit-limit'));
    const limits = async (key: string) => [await limitOf('/email/logs', key), await limitOf('/domains', key)];

    expect(await limits(live.secret)).toEqual([60, 120]);
    expect(await limits(sandbox.secret)).toEqual([600, 1200]);
    const { body } = await rest.call('GET', '/api-keys/current', { key: sandbox.secret });
    expect(body.limits).toMatchObject({ send_per_minute: 1000, logs_per_minute: 600, default_per_minute: 1200 });
    const plan = body.plan as string;
    await world.services.sql`update plans set sandbox_logs_per_minute = 7 where name = ${plan}`;
    expect(await limits(sandbox.secret)).toEqual([7, 1200]);
    expect(await limits(live.secret)).toEqual([60, 120]);
  });
});

describe('403', () => {
  it('a sandbox key cannot create a live key, whatever its scopes', async () => {
    const { secret } = await world.key({ scopes: ['admin'], mode: 'sandbox' });
    const body = { name: 'More', scopes: ['email:send'] };

    const live = await rest.call('POST', '/api-keys', { key: secret, body: { ...body, mode: 'live' } });
    const sandbox = await rest.call('POST', '/api-keys', { key: secret, body: { ...body, mode: 'sandbox' } });

    expect(live.status).toBe(403);
    expect(sandbox.status).toBe(201);
  });
});

/** Creates a message and a key in each mode, and a key with every scope to send requests with. */
async function bothModes(mode: 'live' | 'sandbox') {
  const asking = await world.key({ scopes: ['admin', 'operator'], mode });
  const keys = {
    live: await world.key({ scopes: ['admin'] }),
    sandbox: await world.key({ scopes: ['admin'], mode: 'sandbox' }),
  };
  const send = async (key: string) => String((await rest.call('POST', '/email/send', { key, body: mail })).body.id);
  const messages = { live: await send(keys.live.secret), sandbox: await send(keys.sandbox.secret) };
  const idsOf = (response: ApiResponse) => (response.body.data as { id: string }[]).map(({ id }) => id);
  return { key: asking.secret, keys, messages, idsOf };
}

describe('200', () => {
  it('a sandbox key lists only sandbox email, events and keys, and a live key lists all of them', async () => {
    for (const mode of ['sandbox', 'live'] as const) {
      const { key, keys, messages, idsOf } = await bothModes(mode);
      const is_visible = mode === 'live';
      for (const query of ['', '?from=shop@sandbox.test', '?status=queued', '?limit=1']) {
        const listed = idsOf(await rest.call('GET', `/email/logs${query}`, { key }));
        expect(listed, query).toContain(messages.sandbox);
        if (query !== '?limit=1') expect(listed.includes(messages.live), query).toBe(is_visible);
      }
      const events = await rest.call('GET', '/events?limit=100', { key });
      expect(events.text).toContain(messages.sandbox);
      expect(events.text.includes(messages.live)).toBe(is_visible);
      const ofMail = await rest.call('GET', `/events?email_id=${messages.live}`, { key });
      expect(idsOf(ofMail)).toHaveLength(is_visible ? 1 : 0);
      const listedKeys = idsOf(await rest.call('GET', '/api-keys?limit=100', { key }));
      expect(listedKeys).toContain(keys.sandbox.id);
      expect(listedKeys.includes(keys.live.id)).toBe(is_visible);
    }
  });

  it('a sandbox key can use sandbox email and keys within its scopes', async () => {
    const { key, keys, messages } = await bothModes('sandbox');

    const responses = [
      await rest.call('GET', `/email/logs/${messages.sandbox}`, { key }),
      await rest.call('GET', `/email/${messages.sandbox}/content`, { key }),
      await rest.call('POST', `/email/${messages.sandbox}/resend`, { key }),
      await rest.call('POST', `/email/${messages.sandbox}/cancel`, { key }),
      await rest.call('DELETE', `/api-keys/${keys.sandbox.id}`, { key }),
    ];

    expect(responses.map(({ status }) => status)).toEqual([200, 200, 202, 200, 200]);
  });
});

describe('403', () => {
  it('operations that also affect live email are denied to a sandbox key, whatever its scopes', async () => {
    const { key } = await bothModes('sandbox');
    const denied: string[] = [];
    for (const { method, path } of routes) {
      const response = await rest.call(method, path.replaceAll(/\{\w+\}/g, 'nothing'), {
        key,
        ...(method !== 'GET' && { body: {} }),
      });
      if (response.status === 403) denied.push(`${method} ${path}`);
      if (response.status === 403)
        expect(errorOf(response)).toMatchObject({ message: expect.stringContaining('use a live key') });
    }

    expect(denied).toEqual(
      routes
        .map(({ method, path }) => `${method} ${path}`)
        .filter((one) => /suppressions|erasures|requests|stats|(POST|PATCH|DELETE) .domains/.test(one)),
    );
  });

  it('live statistics and suppressions are denied to a sandbox key with log access', async () => {
    const { secret } = await world.key({ scopes: ['email:logs:read'], mode: 'sandbox' });

    const responses = [
      await rest.call('GET', '/stats?group_by=tag', { key: secret }),
      await rest.call('GET', '/suppressions', { key: secret }),
      await rest.call('GET', '/email/logs', { key: secret }),
    ];

    expect(responses.map(({ status }) => status)).toEqual([403, 403, 200]);
  });

  it('domain changes are allowed for a sandbox key with the explicit scope', async () => {
    const { secret } = await world.key({ scopes: ['domains:write'], mode: 'sandbox' });

    const domain = await rest.call('POST', '/domains', { key: secret, body: { name: 'new.example.com' } });

    expect(domain.status).toBe(201);
  });

  it('a sandbox key cannot create an endpoint that receives live events', async () => {
    const { secret } = await world.key({ scopes: ['webhooks:manage'], mode: 'sandbox' });
    const body = { url: 'http://localhost:4000' };

    const live = await rest.call('POST', '/webhooks', { key: secret, body: { ...body, mode: 'live' } });
    const own = await rest.call('POST', '/webhooks', { key: secret, body });

    expect([live.status, errorOf(live).reason]).toEqual([403, 'missing_scope']);
    expect([own.status, own.body.mode]).toEqual([201, 'sandbox']);
  });
});

describe('404', () => {
  it('live email and keys are hidden from a sandbox key, and remain unchanged', async () => {
    const { key, keys, messages } = await bothModes('sandbox');
    const requests = [
      ['GET', `/email/logs/${messages.live}`],
      ['GET', `/email/${messages.live}/content`],
      ['POST', `/email/${messages.live}/resend`],
      ['POST', `/email/${messages.live}/cancel`],
      ['DELETE', `/api-keys/${keys.live.id}`],
    ] as const;
    const before = await world.services.sql`select count(*) from messages`;

    for (const [method, path] of requests)
      expect([path, (await rest.call(method, path, { key })).status]).toEqual([path, 404]);

    expect(await world.services.sql`select count(*) from messages`).toEqual(before);
    const unchanged = await rest.call('GET', `/email/logs/${messages.live}`, { key: keys.live.secret });
    expect([unchanged.status, unchanged.body.status]).toEqual([200, 'queued']);
  });

  it('live endpoints and their pending deliveries are hidden from a sandbox key', async () => {
    const { secret: live } = await world.workspace('business');
    const key = { name: 'Tests', scopes: ['webhooks:manage'], mode: 'sandbox' };
    const sandbox = String((await rest.call('POST', '/api-keys', { key: live, body: key })).body.secret);
    const webhook = await rest.call('POST', '/webhooks', { key: live, body: { url: 'http://localhost:4000' } });
    const path = `/webhooks/${webhook.body.id}`;
    const tested = await rest.call('POST', `${path}/test`, { key: live, body: {} });
    const requests = [
      ['GET', path, null],
      ['PATCH', path, { description: 'Mine' }],
      ['POST', `${path}/test`, {}],
      ['POST', `${path}/rotate-secret`, {}],
      ['POST', `${path}/recover`, { since: '2026-01-01T00:00:00Z' }],
      ['GET', `${path}/deliveries`, null],
      ['POST', `${path}/deliveries/${tested.body.id}/replay`, {}],
      ['DELETE', path, null],
    ] as const;

    for (const [method, at, body] of requests) {
      const response = await rest.call(method, at, { key: sandbox, ...(body && { body }) });
      expect([method, at, response.status]).toEqual([method, at, 404]);
    }

    expect((await rest.call('GET', '/webhooks', { key: sandbox })).body.data).toEqual([]);
    expect((await rest.call('GET', path, { key: live })).body).toMatchObject({
      mode: 'live',
      status: 'enabled',
      description: null,
      secret_last4: webhook.body.secret_last4,
    });
  });

  it('live email is unreachable with a sandbox key', async () => {
    await world.drain();
    const { secret } = await world.key({ scopes: ['email:send'], mode: 'sandbox' });
    const scheduled_at = new Date(world.clock.now() + 3_600_000).toISOString();
    const sent = await rest.call('POST', '/email/send', { body: { ...mail, scheduled_at } });

    const moved = await rest.call('PATCH', `/email/${sent.body.id}`, {
      key: secret,
      body: { scheduled_at: new Date(world.clock.now()).toISOString() },
    });
    const canceled = await rest.call('POST', `/email/${sent.body.id}/cancel`, { key: secret });

    expect([moved.status, canceled.status]).toEqual([404, 404]);
    expect(await world.drain()).toEqual([]);
  });
});

describe('401', () => {
  it('a large body with an unknown key is rejected before the body is sent', async () => {
    const connection = await openRaw(rest.port);
    const head = {
      authorization: `Bearer pr_live_${'0'.repeat(64)}`,
      'content-type': 'application/json',
      'content-length': '10000000',
    };

    connection.write(requestHead('POST', '/v1/email/send', head));
    const response = await connection.answer();

    expect(response).toMatchObject({ status: 401 });
  });
});
