import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Instance, startInstance } from './instance.ts';

// These tests are written from docs/interface.md alone and use only fetch. The number in each title is that of a
// statement in that document.

let instance: Instance;
let base_url: string;
beforeAll(async () => {
  instance = await startInstance();
  base_url = instance.base;
});
afterAll(() => instance.stop());

type Json = Record<string, unknown>;

interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

async function call(
  method: string,
  path: string,
  body?: unknown,
  key: string | null = instance.key,
): Promise<ApiResponse> {
  const response = await fetch(`${base_url}${path}`, {
    method,
    headers: {
      ...(key !== null && { Authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Json };
}

const mail = { from: 'Shop <orders@sandbox.test>', to: 'ada@example.com', subject: 'Your order', text: 'Thank you.' };
const send = (fields: Json = {}, key?: string) => call('POST', '/email/send', { ...mail, ...fields }, key);
const entry = async (id: unknown) => (await call('GET', `/email/logs/${id}`)).body;
const codeOf = (response: ApiResponse) => (response.body.error as Json | undefined)?.code;
const addresses = (count: number) => Array.from({ length: count }, (_, index) => `reader${index}@example.com`);

async function keyWith(...scopes: string[]): Promise<{ id: string; secret: string }> {
  const { body } = await call('POST', '/api-keys', { name: scopes.join(' '), scopes });
  return { id: String(body.id), secret: String(body.secret) };
}

let domains = 0;
async function newDomain(): Promise<string> {
  domains += 1;
  const name = `shop${domains}.test`;
  expect((await call('POST', '/domains', { name })).status).toBe(201);
  return name;
}

describe('the service', () => {
  it('seed 1: sends email, lists logs, and manages sending domains and webhooks over HTTP', async () => {
    expect((await send()).status).toBe(202);
    for (const path of ['/email/logs', '/domains', '/webhooks']) expect((await call('GET', path)).status).toBe(200);
  });

  it('seed 2: authenticates requests with API keys that have scoped permissions', async () => {
    const { secret } = await keyWith('domains:read');

    expect((await call('GET', '/domains', undefined, secret)).status).toBe(200);
    expect((await call('GET', '/email/logs', undefined, secret)).status).toBe(403);
    expect((await call('GET', '/domains', undefined, null)).status).toBe(401);
  });

  it('seed 3: returns JSON from every endpoint', async () => {
    for (const [method, path] of [
      ['GET', '/email/logs'],
      ['GET', '/domains'],
      ['POST', '/email/send'],
      ['DELETE', '/domains/absent.test'],
      ['GET', '/nowhere'],
    ] as const)
      expect((await call(method, path)).headers.get('content-type')).toMatch(/^application\/json/);
  });

  it('seed 4: accepts JSON bodies', async () => {
    expect((await send()).status).toBe(202);
    const form = await fetch(`${base_url}/email/send`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${instance.key}`, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'from=a',
    });
    expect(form.status).toBe(400);
  });

  it('seed 5: has a base URL ending in /v1', async () => {
    expect(base_url).toMatch(/\/v1$/);
    expect((await fetch(`${base_url.slice(0, -3)}/v2/email/logs`)).status).toBe(404);
  });
});

describe('a send request', () => {
  it('seed 6: requires from, a sender address', async () => {
    expect(codeOf(await send({ from: undefined }))).toBe('invalid_request');
    expect((await entry((await send({ from: 'orders@sandbox.test' })).body.id)).from).toBe('orders@sandbox.test');
  });

  it('seed 7: requires from to be at a verified domain', async () => {
    const response = await send({ from: `orders@${await newDomain()}` });

    expect([response.status, codeOf(response)]).toEqual([422, 'unprocessable']);
  });

  it('seed 8: accepts to as a string or an array of strings', async () => {
    expect((await entry((await send({ to: 'a@example.com' })).body.id)).to).toEqual(['a@example.com']);
    expect((await entry((await send({ to: addresses(3) })).body.id)).to).toEqual(addresses(3));
    expect(codeOf(await send({ to: undefined }))).toBe('invalid_request');
  });

  it('seed 9: accepts at most 50 addresses in to', async () => {
    expect((await send({ to: addresses(50) })).status).toBe(202);
    expect((await send({ to: addresses(51) })).status).toBe(400);
  });

  it('seed 10: requires a subject', async () => {
    expect((await entry((await send({ subject: 'Grüße 👋' })).body.id)).subject).toBe('Grüße 👋');
    expect(codeOf(await send({ subject: undefined }))).toBe('invalid_request');
  });

  it.each([
    [11, 'html', '<p>Thank you.</p>'],
    [12, 'text', 'Thank you.'],
  ])('seed %i: accepts %s as the body', async (_, name, value) => {
    const { body } = await send({ text: undefined, [name]: value });

    expect((await call('GET', `/email/${body.id}/content`)).body[name]).toBe(value);
  });

  it.each([
    [13, 'cc', ['copy@example.com']],
    [14, 'bcc', ['blind@example.com', 'blinder@example.com']],
  ])('seed %i: accepts %s as an array of strings', async (_, name, value) => {
    expect((await entry((await send({ [name]: value })).body.id))[name]).toEqual(value);
  });

  it('seed 15: accepts reply_to', async () => {
    expect((await entry((await send({ reply_to: 'help@example.com' })).body.id)).reply_to).toBe('help@example.com');
  });

  it('seed 16: accepts headers as key-value pairs', async () => {
    const { body } = await send({ headers: { 'X-Order': '1815' } });

    expect((await call('GET', `/email/${body.id}/content`)).body.raw).toContain('X-Order: 1815\r\n');
  });

  it('seed 17: accepts tags, which filter the logs', async () => {
    const tag = 'spring sale/2030 – Frühling';
    const { body } = await send({ tags: [tag] });

    const response = await call('GET', `/email/logs?tag=${encodeURIComponent(tag)}`);
    expect(response.body.data).toMatchObject([{ id: body.id, tags: [tag] }]);
  });

  it('seed 18: accepts at most 5 tags', async () => {
    expect((await send({ tags: ['a', 'b', 'c', 'd', 'e'] })).status).toBe(202);
    expect((await send({ tags: ['a', 'b', 'c', 'd', 'e', 'f'] })).status).toBe(400);
  });

  it('seed 19: accepts scheduled_at as an ISO 8601 timestamp in the future', async () => {
    const future = new Date(Date.now() + 3_600_000).toISOString();
    for (const scheduled_at of [future, future.replace('Z', '+00:00'), future.replaceAll(/[-:]/g, '')]) {
      const { body } = await send({ scheduled_at });
      expect(await entry(body.id)).toMatchObject({ status: 'scheduled', scheduled_at: future });
    }
  });
});

describe('the response to a send', () => {
  it('seed 20: has an id consisting of msg_ and an opaque string', async () => {
    expect((await send()).body.id).toMatch(/^msg_\S+$/);
  });

  it('seed 21: has the status queued', async () => {
    expect((await send()).body.status).toBe('queued');
  });

  it('seed 22: has created_at in ISO 8601 format, in UTC', async () => {
    expect((await send()).body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });
});

describe('an API key', () => {
  it('seed 23: has an id consisting of key_ and an opaque string', async () => {
    expect((await keyWith('email:send')).id).toMatch(/^key_\S+$/);
  });

  it('seed 24: has a set of scopes', async () => {
    const { secret } = await keyWith('email:send', 'domains:read');

    const { body } = await call('GET', '/api-keys/current', undefined, secret);
    expect(body.scopes).toEqual(expect.arrayContaining(['email:send', 'domains:read']));
  });

  it('seed 25: shows its secret only once, at creation', async () => {
    const { secret } = await keyWith('email:send');

    expect(secret).not.toBe('undefined');
    expect(JSON.stringify((await call('GET', '/api-keys')).body)).not.toContain(secret);
  });

  it('seed 26: can be revoked and replaced if it is lost', async () => {
    const lost = await keyWith('email:send');
    expect((await call('DELETE', `/api-keys/${lost.id}`)).status).toBe(200);

    expect((await send({}, (await keyWith('email:send')).secret)).status).toBe(202);
  });
});

describe('a domain', () => {
  it('seed 27: is identified in the path by its name', async () => {
    const name = await newDomain();

    expect((await call('GET', `/domains/${name}`)).body.name).toBe(name);
  });

  it('seed 28: must be verified before use in from', async () => {
    const name = await newDomain();

    expect((await send({ from: `a@${name}` })).status).toBe(422);
    expect((await send({ from: 'a@sandbox.test' })).status).toBe(202);
  });
});

describe('object states', () => {
  it('seed 29: include queued for a new message, and later delivered in the log filter', async () => {
    const { body } = await send({ tags: ['seed-29'] });

    expect(body.status).toBe('queued');
    await expect
      .poll(async () => (await call('GET', '/email/logs?status=delivered&tag=seed-29&limit=1')).body.data, {
        timeout: 60_000,
        interval: 2000,
      })
      .toMatchObject([{ id: body.id, status: 'delivered' }]);
  });

  it('seed 30: include active for a key, and revoked after DELETE /api-keys/{key_id}', async () => {
    const { id } = await keyWith('email:send');

    expect((await call('DELETE', `/api-keys/${id}`)).body).toMatchObject({ id, status: 'revoked' });
  });

  it('seed 31: include revoked, after which a key is rejected immediately', async () => {
    const { id, secret } = await keyWith('email:send');
    expect((await send({}, secret)).status).toBe(202);
    await call('DELETE', `/api-keys/${id}`);

    const response = await send({}, secret);

    expect([response.status, codeOf(response)]).toEqual([401, 'unauthorized']);
  });

  it('seed 32: do not change back from revoked', async () => {
    const { id, secret } = await keyWith('email:send');
    await call('DELETE', `/api-keys/${id}`);

    expect((await call('DELETE', `/api-keys/${id}`)).body.status).toBe('revoked');
    expect((await call('PATCH', `/api-keys/${id}`, { status: 'active' })).status).toBe(404);
    expect((await send({}, secret)).status).toBe(401);
  });
});

describe('the endpoints', () => {
  it('seed 33: all require the Authorization header', async () => {
    for (const [method, path] of [
      ['POST', '/email/send'],
      ['GET', '/email/logs'],
      ['GET', '/domains'],
      ['POST', '/domains'],
      ['DELETE', '/domains/shop.test'],
      ['DELETE', '/api-keys/key_x'],
    ] as const)
      expect((await call(method, path, undefined, null)).status).toBe(401);
  });

  it('seed 34: include POST /email/send, which returns id, status and created_at', async () => {
    expect(Object.keys((await send()).body).sort()).toEqual(['created_at', 'id', 'status']);
  });

  it('seed 35: include GET /email/logs, which accepts limit and status', async () => {
    await send();
    await send();

    expect((await call('GET', '/email/logs?limit=1')).body.data).toHaveLength(1);
    expect((await call('GET', '/email/logs?limit=5&status=delivered')).status).toBe(200);
    expect((await call('GET', '/email/logs?status=bounced')).body.data).toEqual([]);
  });

  it('seed 36: include GET /domains, which lists the domains', async () => {
    const name = await newDomain();

    expect((await call('GET', '/domains')).body.data).toEqual(
      expect.arrayContaining([expect.objectContaining({ name })]),
    );
  });

  it('seed 37: include POST /domains, which adds a domain', async () => {
    expect((await call('POST', '/domains', { name: 'added.test' })).body).toMatchObject({ name: 'added.test' });
  });

  it('seed 38: include DELETE /domains/{domain}, which removes a domain', async () => {
    const name = await newDomain();

    expect((await call('DELETE', `/domains/${name}`)).status).toBe(200);
    expect((await call('GET', `/domains/${name}`)).status).toBe(404);
  });

  it('seed 39: include DELETE /api-keys/{key_id}, which revokes a key', async () => {
    expect((await call('DELETE', `/api-keys/${(await keyWith('email:send')).id}`)).status).toBe(200);
  });

  it('seed 40: include domain verification, which domains:write allows', async () => {
    const { secret } = await keyWith('domains:write');

    expect((await call('POST', `/domains/${await newDomain()}/verify`, undefined, secret)).status).toBe(200);
  });

  it('seed 41: create, list and delete webhooks', async () => {
    const webhook = await call('POST', '/webhooks', { url: 'https://example.com/hook' });
    expect(webhook.status).toBe(201);
    expect((await call('GET', '/webhooks')).body.data).toMatchObject([{ id: webhook.body.id }]);
    expect((await call('DELETE', `/webhooks/${webhook.body.id}`)).status).toBe(200);
  });

  it('seed 42: apply the recipient, tag and rate limits to POST /email/send', async () => {
    expect((await send({ to: addresses(51) })).status).toBe(400);
    expect((await send({ tags: ['1', '2', '3', '4', '5', '6'] })).status).toBe(400);
    expect((await send()).headers.get('x-ratelimit-limit')).toBe('1000');
  });
});

describe('authentication', () => {
  it('seed 43: uses the Authorization header with Bearer and the key', async () => {
    expect((await call('GET', '/domains')).status).toBe(200);
    for (const header of [`Basic ${instance.key}`, instance.key, 'Bearer']) {
      const response = await fetch(`${base_url}/domains`, { headers: { Authorization: header } });
      expect(response.status).toBe(401);
    }
  });

  it('seed 44: returns 401 unauthorized for a missing or invalid key', async () => {
    for (const key of [null, 'wrong', `pr_live_${'0'.repeat(64)}`]) {
      const response = await call('GET', '/domains', undefined, key);
      expect([response.status, codeOf(response)]).toEqual([401, 'unauthorized']);
    }
  });

  it('seed 45: returns 403 forbidden for a key without permission', async () => {
    const { secret } = await keyWith('email:send');

    const response = await call('GET', '/domains', undefined, secret);

    expect([response.status, codeOf(response)]).toEqual([403, 'forbidden']);
  });

  it.each([
    [46, 'email:send', 'POST', '/email/send', mail],
    [47, 'email:logs:read', 'GET', '/email/logs', undefined],
    [48, 'domains:read', 'GET', '/domains', undefined],
    [49, 'domains:write', 'POST', '/domains', { name: 'scoped.test' }],
    [50, 'webhooks:manage', 'POST', '/webhooks', { url: 'https://example.com/scoped' }],
  ])('seed %i: requires the scope %s for %s %s', async (_, scope, method, path, body) => {
    const all = ['email:send', 'email:logs:read', 'domains:read', 'domains:write', 'webhooks:manage'];
    const with_it = await keyWith(scope);
    const without = await keyWith(...all.filter((other) => other !== scope));

    expect((await call(method, path, body, without.secret)).status).toBe(403);
    expect((await call(method, path, body, with_it.secret)).status).toBeLessThan(300);
  });

  it('seed 51: lets an admin key revoke any key immediately, and denies keys without the admin scope', async () => {
    const admin = await keyWith('admin');
    const [one, other] = [await keyWith('email:send'), await keyWith('email:send')];

    expect((await call('DELETE', `/api-keys/${one.id}`, undefined, other.secret)).status).toBe(403);
    expect((await call('DELETE', `/api-keys/${one.id}`, undefined, admin.secret)).status).toBe(200);
    expect((await send({}, one.secret)).status).toBe(401);
  });

  it('seed 52: makes keys useless in client-side code, because browsers get no CORS permission', async () => {
    const response = await fetch(`${base_url}/domains`, {
      headers: { Authorization: `Bearer ${instance.key}`, Origin: 'https://shop.example' },
    });

    expect(response.headers.has('access-control-allow-origin')).toBe(false);
  });
});

describe('errors', () => {
  it.each<[number, number, string, () => Promise<ApiResponse>]>([
    [53, 400, 'invalid_request', () => call('POST', '/email/send', {})],
    [54, 401, 'unauthorized', () => call('GET', '/domains', undefined, null)],
    [55, 403, 'forbidden', async () => call('GET', '/domains', undefined, (await keyWith('email:send')).secret)],
    [56, 404, 'not_found', () => call('GET', '/domains/absent.test')],
    [57, 422, 'unprocessable', () => send({ from: 'a@unknown.test' })],
  ])('seed %i: return %i with the code %s', async (_, status, code, ask) => {
    const response = await ask();

    expect([response.status, codeOf(response)]).toEqual([status, code]);
  });

  it('seed 59: return 500 as internal_error, as documented for every endpoint', async () => {
    const { body } = await call('GET', '/openapi.json');

    for (const path of Object.values(body.paths as Record<string, Record<string, Json>>))
      for (const { responses } of Object.values(path))
        expect(responses).toMatchObject({ 500: { $ref: '#/components/responses/internal_error' } });
  });
});

describe('rate limits', () => {
  /**
   * Sends the given number of requests within one rate limit window of a new key. Retries if the window rolls over in
   * the meantime.
   */
  async function askAll(
    scope: string,
    times: number,
    ask: (key: string) => Promise<ApiResponse>,
  ): Promise<ApiResponse[]> {
    for (let attempt = 0; attempt < 5; attempt++) {
      const { secret } = await keyWith(scope);
      const responses: ApiResponse[] = [];
      while (responses.length < times) {
        const some = Math.min(50, times - responses.length);
        responses.push(...(await Promise.all(Array.from({ length: some }, () => ask(secret)))));
      }
      const resets = new Set(responses.map((response) => response.headers.get('x-ratelimit-reset')));
      if (resets.size === 1) return responses;
    }
    throw new Error('no window was long enough');
  }

  it.each<[number, string, number, (key: string) => Promise<ApiResponse>]>([
    [60, 'email:send', 1000, (key) => call('POST', '/email/send', {}, key)],
    [61, 'email:logs:read', 60, (key) => call('GET', '/email/logs?limit=1', undefined, key)],
    [62, 'domains:read', 120, (key) => call('GET', '/domains?limit=1', undefined, key)],
  ])('seed %i: allow a key with %s exactly %i requests per minute', async (_, scope, limit, ask) => {
    const responses = await askAll(scope, limit + 1, ask);

    expect(responses.filter(({ status }) => status === 429)).toHaveLength(1);
    expect(new Set(responses.map(({ headers }) => headers.get('x-ratelimit-limit')))).toEqual(new Set([String(limit)]));
  });

  it('seed 63: use windows that belong to one key and reset every minute', async () => {
    const [one, other] = [await keyWith('domains:read'), await keyWith('domains:read')];
    await call('GET', '/domains', undefined, one.secret);

    const { headers } = await call('GET', '/domains', undefined, other.secret);

    expect(headers.get('x-ratelimit-remaining')).toBe('119');
    expect(Number(headers.get('x-ratelimit-reset')) % 60).toBe(0);
  });

  it('seed 64: set X-RateLimit-Limit, the window size, in every response', async () => {
    for (const response of [
      await send(),
      await call('GET', '/nowhere'),
      await call('GET', '/domains', undefined, null),
    ])
      expect(response.headers.get('X-RateLimit-Limit')).toMatch(/^\d+$/);
  });

  it('seed 65: set X-RateLimit-Remaining, the requests left, in every response', async () => {
    const { secret } = await keyWith('domains:read');
    const remaining = async () =>
      Number((await call('GET', '/domains', undefined, secret)).headers.get('X-RateLimit-Remaining'));

    const first = await remaining();
    expect([first - 1, 119]).toContain(await remaining());
  });

  it('seed 66: set X-RateLimit-Reset, a Unix timestamp within a minute, in every response', async () => {
    const reset = Number((await call('GET', '/domains')).headers.get('X-RateLimit-Reset'));

    expect(Math.abs(reset - Date.now() / 1000)).toBeLessThanOrEqual(62);
  });

  it('seed 58, 67, 68 and 76: return 429 rate_limited with Retry-After in seconds only over the limit', async () => {
    const responses = await askAll('email:logs:read', 61, (key) => call('GET', '/email/logs?limit=1', undefined, key));
    const limited = responses.filter(({ status }) => status === 429);

    expect(limited.map(codeOf)).toEqual(['rate_limited']);
    const wait = limited[0]?.headers.get('Retry-After');
    expect(wait).toMatch(/^([1-9]|[1-5]\d|60)$/);
    // Waiting for Retry-After seconds reaches the next window.
    const next = Number(limited[0]?.headers.get('X-RateLimit-Reset'));
    expect(Math.abs(Date.now() / 1000 + Number(wait) - next)).toBeLessThan(5);
    for (const response of responses)
      if (response.status !== 429) expect(response.headers.has('Retry-After')).toBe(false);
  });
});

describe('plans', () => {
  async function graphql(query: string, variables: Json = {}): Promise<Json> {
    const response = await fetch(base_url.replace(/v1$/, 'graphql'), {
      method: 'POST',
      headers: { Authorization: `Bearer ${instance.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    return ((await response.json()) as { data: Json }).data;
  }

  async function choose(plan: string): Promise<void> {
    const { workspaces } = await graphql('{ workspaces(first: 1) { nodes { id } } }');
    const [workspace] = (workspaces as { nodes: Json[] }).nodes;
    const plan_change = await graphql(
      'mutation ($input: PlanInput!) { workspaceSetPlan(input: $input) { __typename } }',
      {
        input: { id: workspace?.id, plan },
      },
    );
    expect(plan_change).toEqual({ workspaceSetPlan: { __typename: 'WorkspacePayload' } });
  }
  const capOf = async (count: number) =>
    (await send({ to: addresses(Math.min(count, 50)), cc: addresses(count).slice(50) })).status;

  it.each([
    [69, 'free', 3000, 10],
    [70, 'starter', 50_000, 50],
    [71, 'growth', 500_000, 50],
  ])('seed %i: include %s with %i emails a month and %i recipients per request', async (_, plan, monthly, cap) => {
    await choose(plan);

    expect((await call('GET', '/usage')).body.limit).toBe(monthly);
    expect([await capOf(cap), await capOf(cap + 1)]).toEqual([202, 422]);
  });

  it('seed 77: can have a higher rate limit per minute', async () => {
    const input = { name: 'business', otherPerMinute: 240 };
    const raised = await graphql('mutation ($input: PlanLimitsInput!) { planUpdate(input: $input) { __typename } }', {
      input,
    });

    expect(raised).toEqual({ planUpdate: { __typename: 'PlanPayload' } });
    await choose('business');
    expect((await call('GET', '/domains')).headers.get('X-RateLimit-Limit')).toBe('240');
  });

  it('seed 72: include business, with a custom volume and 100 recipients per request', async () => {
    await choose('business');

    expect([await capOf(100), await capOf(101)]).toEqual([202, 422]);
  });
});

describe('versioning', () => {
  it('seed 73: puts the version in the path', async () => {
    const { body } = await call('GET', '/openapi.json');

    expect(body.servers).toMatchObject([{ url: expect.stringMatching(/\/v1$/) }]);
  });
});
