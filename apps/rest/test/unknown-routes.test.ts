import { openWorld } from '@postrider/testing/open-world';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fillWindow } from './rate-windows.ts';
import { openRaw, requestHead } from './raw-http.ts';
import { errorOf, openRest, type RestServer, rateOf, startRest } from './rest-server.ts';

const world = await openWorld();
const rest = await openRest(world);
let behind_proxy: RestServer;

beforeAll(async () => {
  const config = { ...world.services.config, TRUSTED_PROXIES: ['127.0.0.0/8', '10.0.0.0/8'] };
  behind_proxy = await startRest({ ...world.services, config }, world.secret);
  await world.clock.freeze(new Date(Math.floor(Date.now() / 60_000) * 60_000 + 5000));
});
beforeEach(() => world.clock.advance(60_000));
afterAll(async () => {
  await behind_proxy.stop();
});

/** Sends a request line that fetch would normalize. */
async function raw(method: string, target: string) {
  const connection = await openRaw(rest.port);
  const headers = { authorization: `Bearer ${world.secret}`, origin: 'https://evil.test', 'content-length': 0 };
  connection.write(requestHead(method, target, headers));
  const response = await connection.answer();
  connection.socket.destroy();
  return response;
}

async function usedRequests(address: string): Promise<number> {
  const rows = await world.services.sql<{ used: number }[]>`
    select used from rate_windows
    where subject = md5(${address})::uuid and class = 'address' and minute = date_trunc('minute', clock_now())`;
  return rows[0]?.used ?? 0;
}

describe('404', () => {
  it.each([
    ['GET', '/nothing'],
    ['GET', '/'],
    ['GET', ''],
    ['GET', '/email'],
    ['GET', '/email/send'],
    ['PUT', '/email/send'],
    ['PATCH', '/email/send'],
    ['DELETE', '/email/send'],
    ['POST', '/email/logs'],
    ['POST', '/Email/Send'],
    ['POST', '/email/send/'],
    ['POST', '/email//send'],
    ['POST', '/email/send%2f'],
    ['POST', '/email%2fsend'],
    ['POST', '/%65mail/send'],
    ['POST', '/email/send;x=1'],
    ['GET', '/email/logs/'],
    ['GET', '/email/logs/%'],
    ['GET', '/email/logs/%zz'],
    ['GET', '/email/logs/%C3%28'],
    ['GET', '/email/logs/msg_x/events'],
    ['DELETE', '/api-keys'],
    ['DELETE', '/api-keys/'],
    ['GET', '/api-keys/key_x'],
    ['OPTIONS', '/email/send'],
    ['TRACE', '/email/send'],
    ['PROPFIND', '/email/send'],
    ['POST', '/../v1/email/send'],
    ['POST', '/./email/send'],
    ['POST', '/x/../email/send'],
    ['POST', '/../xy/email/send'],
    ['POST', '/%2e%2e/xy/email/send'],
    ['POST', '\\email\\send'],
  ])('%s /v1%s is not found', async (method, path) => {
    const response = await raw(method, `/v1${path}`);

    expect(response.status).toBe(404);
    expect(errorOf(response)).toMatchObject({ code: 'not_found', reason: 'route_not_found' });
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(rateOf(response, world.clock.now())).toEqual({
      limit: 120,
      remaining: 119,
      reset_unix: expect.any(Number),
    });
    for (const name of response.headers.keys()) expect(name).not.toMatch(/^access-control-/);
  });

  it.each(['/', '//', '/v1', '/v10/email/send', '/v2/email/send', '//v1/email/send', '*', 'http://[', '/v1?x'])(
    'the target %s is not found',
    async (target) => {
      expect((await raw('POST', target)).status).toBe(404);
    },
  );

  it('HEAD returns 404 wherever GET does, with headers and without a body', async () => {
    for (const path of ['/email/send', '/nothing']) {
      const response = await fetch(rest.url + path, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${world.secret}` },
      });

      expect([response.status, await response.text()]).toEqual([404, '']);
      rateOf(response, world.clock.now());
    }
  });

  it.each([
    ['PUT', '/email/send', 'This path supports POST.'],
    ['GET', '/email/send', 'This path supports POST.'],
    ['POST', '/email/logs', 'This path supports GET.'],
    ['PUT', '/domains/example.com', 'This path supports GET, PATCH, DELETE.'],
    ['POST', '/email/send/', 'The path is /v1/email/send, without the trailing slash, and supports POST.'],
    ['GET', '/email/logs//', 'The path is /v1/email/logs, without the trailing slash, and supports GET.'],
    ['POST', '/Email//Send', 'The path is /v1/email/send, spelled so, and supports POST.'],
    ['GET', '/nothing', 'See /v1/openapi.json for all endpoints.'],
  ])('an unknown route, %s /v1%s, is reported as: %s (newcomer N13)', async (method, path, message) => {
    const response = await rest.call(method, path);

    expect([response.status, errorOf(response).reason]).toEqual([404, 'route_not_found']);
    expect(errorOf(response).message).toBe(`No route for ${method} /v1${path}. ${message}`);
    const [, methods = null] = /^This path supports (.+)\.$/.exec(message) ?? [];
    expect(response.headers.get('allow')).toBe(methods);
  });

  it('the response echoes no request header or body, and only the start of a long path', async () => {
    const response = await rest.call('PUT', `/${'x'.repeat(5000)}`, {
      body: { canary: 'in the body' },
      headers: { 'x-canary': 'in a header' },
    });

    expect(response.status).toBe(404);
    expect(response.text).not.toMatch(/canary|in the body|in a header/);
    expect(response.text.length).toBeLessThan(1000);
  });

  it('a client still sending a large body receives the response', async () => {
    const response = await rest.call('PUT', '/email/send', { body: 'x'.repeat(20 * 1024 * 1024) });

    expect(response.status).toBe(404);
  });

  it('no key is required, and the response reveals nothing about keys', async () => {
    const responses = [
      await rest.call('GET', '/nothing', { key: null }),
      await rest.call('GET', '/nothing'),
      await rest.call('GET', '/nothing', { key: 'wrong' }),
    ];

    expect(responses.map((response) => errorOf(response).reason)).toEqual(Array(3).fill('route_not_found'));
    expect(await usedRequests('127.0.0.1')).toBe(3);
  });

  it('only a trusted proxy can set the counted client address, which is read from the right', async () => {
    const ask = (server: RestServer, forwarded: string) =>
      server.call('GET', '/nothing', { headers: { 'x-forwarded-for': forwarded } });

    await ask(rest, '192.0.2.1');
    await ask(behind_proxy, '192.0.2.2');
    await ask(behind_proxy, '203.0.113.9, 192.0.2.3, 10.1.2.3');
    await ask(behind_proxy, '::ffff:192.0.2.4');
    await ask(behind_proxy, '2001:db8::5');
    await ask(behind_proxy, 'fe80::6%eth0');

    for (const address of ['192.0.2.2', '192.0.2.3', '192.0.2.4', '2001:db8:0:0::/64', 'fe80:0:0:0::/64'])
      expect([address, await usedRequests(address)]).toEqual([address, 1]);
    for (const address of ['192.0.2.1', '203.0.113.9', '10.1.2.3']) expect(await usedRequests(address)).toBe(0);
    expect(await usedRequests('127.0.0.1')).toBe(1);
  });

  it('requests are counted against the proxy itself if it sends no valid address', async () => {
    for (const forwarded of ['', 'unknown', '192.0.2.1:80', '_hidden', "'; drop table rate_windows; --"])
      await behind_proxy.call('GET', '/nothing', { headers: { 'x-forwarded-for': forwarded } });
    await behind_proxy.call('GET', '/nothing');

    expect(await usedRequests('127.0.0.1')).toBe(6);
  });

  it("a key's network restriction applies to the client address sent by a trusted proxy", async () => {
    const { secret: key } = await world.key({ scopes: ['email:logs:read'], allowed_ips: ['192.0.2.0/24'] });
    const ask = (server: RestServer, forwarded: string) =>
      server.call('GET', '/email/logs', { key, headers: { 'x-forwarded-for': forwarded } });

    expect((await ask(behind_proxy, '192.0.2.9')).status).toBe(200);
    expect(errorOf(await ask(behind_proxy, '192.0.3.9')).reason).toBe('address_not_allowed');
    expect(errorOf(await ask(rest, '192.0.2.9')).reason).toBe('address_not_allowed');
    expect((await ask(behind_proxy, '2001:db8::1%eth0')).status).toBe(401);
  });
});

describe('200', () => {
  it('HEAD matches GET without a body, and shares its rate limit (newcomer N13)', async () => {
    for (const path of ['/email/logs', '/domains', '/openapi.json']) {
      const ask = (method: string) =>
        fetch(rest.url + path, { method, headers: { authorization: `Bearer ${world.secret}` } });
      const [got, head] = [await ask('GET'), await ask('HEAD')];

      const length = Buffer.byteLength(await got.text());
      expect([head.status, await head.text()]).toEqual([200, '']);
      expect(head.headers.get('content-length')).toBe(String(length));
      expect(rateOf(head, world.clock.now()).remaining).toBe(rateOf(got, world.clock.now()).remaining - 1);
    }
  });

  it('the rate headers are spelled as documented in every response (seed 64 to 67)', async () => {
    const authorization = `Bearer ${world.secret}`;
    const namesOf = async (method: string, path: string, headers: Readonly<Record<string, string>>) => {
      const connection = await openRaw(rest.port);
      const received: string[] = [];
      connection.socket.on('data', (chunk: Buffer) => received.push(chunk.toString('latin1')));
      connection.write(requestHead(method, path, headers));
      const { status } = await connection.answer();
      connection.socket.destroy();
      const [head = ''] = received.join('').split('\r\n\r\n');
      const lines = head.split('\r\n').slice(1);
      return { status, names: lines.map((line) => line.split(':', 1)[0]) };
    };
    const responses = [
      [200, await namesOf('GET', '/v1/domains', { authorization })],
      [400, await namesOf('POST', '/v1/email/send', { authorization, 'content-length': '0' })],
      [401, await namesOf('GET', '/v1/email/logs', {})],
      [404, await namesOf('GET', '/v1/nowhere', { authorization })],
    ] as const;

    for (const [status, response] of responses) {
      expect(response.status).toBe(status);
      for (const name of ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-Request-Id'])
        expect(response.names).toContain(name);
      expect(response.names).not.toContain('Retry-After');
    }
    const { secret, key_id } = await world.workspace('free');
    await fillWindow(world, key_id, 'default', 120);
    const limited = await namesOf('GET', '/v1/domains', { authorization: `Bearer ${secret}` });
    expect(limited.status).toBe(429);
    expect(limited.names).toEqual(expect.arrayContaining(['X-RateLimit-Limit', 'X-RateLimit-Reset', 'Retry-After']));
  });
});

describe('400', () => {
  it.each([
    ['GET', '/email/logs?page=2', 'page', 'limit, cursor, status, tag'],
    ['GET', '/email/logs?offset=10', 'offset', 'limit, cursor'],
    ['GET', '/domains?after=x', 'after', 'limit, cursor'],
    ['GET', '/suppressions?q=ada', 'q', 'limit, cursor'],
    ['GET', '/usage?x', 'x', 'takes none'],
    ['GET', '/domains/example.com?domain=other.test', 'domain', 'takes none'],
    ['DELETE', '/domains/example.com?force=true', 'force', 'takes none'],
    ['POST', '/email/send?foo=1', 'foo', 'takes dry_run'],
    ['POST', '/email/send?dryRun=true', 'dryRun', 'Did you mean dry_run?'],
    ['POST', '/email/batch?dry_run=true', 'dry_run', 'takes none'],
    ['GET', '/email/logs?lmit=5', 'lmit', 'Did you mean limit?'],
  ])(
    '%s %s with the unknown parameter %s is rejected with instructions: %s (newcomer N3)',
    async (method, path, name, known) => {
      const response = await rest.call(method, path, { ...(method === 'POST' && { body: {} }) });

      expect([response.status, errorOf(response).reason]).toEqual([400, 'unknown_parameter']);
      expect(errorOf(response).details?.[0]).toMatchObject({ param: name, reason: 'unknown_parameter' });
      expect(errorOf(response).message).toContain(known);
    },
  );

  it('every unknown parameter is listed, after the key and its scope are checked', async () => {
    const response = await rest.call('GET', '/email/logs?page=2&offset=1&status=nothing');

    expect(errorOf(response).details?.map(({ param }) => param)).toEqual(['page', 'offset', 'status']);
    expect((await rest.call('GET', '/email/logs?page=2', { key: null })).status).toBe(401);
    const { secret: key } = await world.key({ scopes: ['email:send'] });
    expect((await rest.call('GET', '/email/logs?page=2', { key })).status).toBe(403);
  });
});

describe('429', () => {
  it('the 121st request from an address is rejected, without affecting keys or other addresses', async () => {
    for (let index = 0; index < 120; index++) {
      const response = await rest.call('GET', '/nothing', { key: null });
      expect([response.status, rateOf(response, world.clock.now()).remaining]).toEqual([404, 119 - index]);
    }

    const limited = await rest.call('GET', '/nothing', { key: null });

    expect([limited.status, errorOf(limited).reason]).toEqual([429, 'address_rate']);
    rateOf(limited, world.clock.now());
    expect((await rest.call('GET', '/nothing')).status).toBe(429);
    expect((await rest.call('GET', '/email/logs')).status).toBe(200);
    const other = { headers: { 'x-forwarded-for': '192.0.2.1' } };
    expect((await behind_proxy.call('GET', '/nothing', other)).status).toBe(404);
    await world.clock.advance(60_000);
    expect((await rest.call('GET', '/nothing')).status).toBe(404);
  });

  it('the response identifies the limit that counted the request, even if a key was rejected', async () => {
    await fillWindow(world, '127.0.0.1', 'address', 120);
    for (const path of ['/nothing', '/email/logs', '/api-keys']) {
      const response = await rest.call('GET', path, { key: `pr_live_${'0'.repeat(64)}` });

      expect([response.status, errorOf(response).reason]).toEqual([429, 'address_rate']);
      expect(response.headers.get('ratelimit-policy')).toBe('"address";q=120;w=60');
    }
  });
});

describe('500', () => {
  it("a database failure still returns the IP address's rate headers", async () => {
    const cut = await world.peer();
    await cut.sql.end();
    const lost = await startRest(cut, world.secret);

    const response = await lost.call('GET', '/nothing');

    expect([response.status, errorOf(response).code]).toEqual([500, 'internal_error']);
    expect(rateOf(response, world.clock.now())).toMatchObject({ limit: 120, remaining: 0 });
    await lost.stop();
  });
});
