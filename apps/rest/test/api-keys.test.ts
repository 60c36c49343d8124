import { newId } from '@postrider/core';
import { type Scope, scopes } from '@postrider/core/api-keys';
import { openWorld } from '@postrider/testing/open-world';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { countEach, fillWindow } from './rate-windows.ts';
import {
  type ApiResponse,
  type CallOptions,
  detailsOf,
  errorOf,
  openRest,
  type RestServer,
  rateOf,
  startRest,
} from './rest-server.ts';

const world = await openWorld();
const rest = await openRest(world);
/** Serves the same /v1, as if from another process. */
let other: RestServer;

beforeAll(async () => {
  other = await startRest(await world.peer(), world.secret);
  await world.clock.freeze(new Date(Math.floor(Date.now() / 60_000) * 60_000 + 5000));
});
beforeEach(() => world.clock.advance(60_000));
afterAll(async () => {
  await other.stop();
});

const list = (query = '', options: CallOptions = {}) => rest.call('GET', `/api-keys${query}`, options);
const create = (body: unknown, options: CallOptions = {}) => rest.call('POST', '/api-keys', { body, ...options });
const revoke = (id: string, options: CallOptions = {}) => rest.call('DELETE', `/api-keys/${id}`, options);
const works = async (secret: string, server = rest) =>
  (await server.call('POST', '/email/send', { key: secret, body: {} })).status !== 401;

function entriesOf(response: ApiResponse): Record<string, unknown>[] {
  expect(response.status, response.text).toBe(200);
  expect(response.body).toMatchObject({ object: 'list', data: expect.any(Array), has_more: expect.any(Boolean) });
  // Safe after the expectation above. Entries are asserted on as JSON.
  return response.body.data as Record<string, unknown>[];
}

describe('200', () => {
  it("the list shows the workspace's keys, newest first, without any secrets", async () => {
    const { secret } = await world.workspace('free');
    await world.clock.advance(1);
    const key = await create({ name: 'Second', scopes: ['email:send'] }, { key: secret });

    const response = await list('', { key: secret });

    const { secret: shown_once, ...entry } = key.body;
    expect(entriesOf(response)).toMatchObject([entry, { name: 'Other key', status: 'active' }]);
    expect(response.text).not.toContain(String(shown_once));
    expect(response.text).not.toMatch(/[0-9a-f]{64}/);
    expect(rateOf(response, world.clock.now()).limit).toBe(120);
  });

  it('paging returns every key exactly once', async () => {
    const { secret } = await world.workspace('free');
    for (let index = 0; index < 6; index++) await create({ name: `${index}`, scopes: ['admin'] }, { key: secret });
    const all = entriesOf(await list('?limit=100', { key: secret })).map((entry) => entry.id);
    const paged: unknown[] = [];
    let query = '?limit=3';
    for (;;) {
      const page = await list(query, { key: secret });
      paged.push(...entriesOf(page).map((entry) => entry.id));
      if (!page.body.has_more) break;
      query = `?limit=3&cursor=${page.body.next_cursor}`;
    }

    expect(paged).toEqual(all);
    expect(paged).toHaveLength(7);
  });

  it('a repeated revocation gets the same response, even later and on another process', async () => {
    const key = await world.key({ scopes: ['email:send'] });

    const first = await revoke(key.id);
    await world.clock.advance(5000);
    const responses = [await revoke(key.id), await other.call('DELETE', `/api-keys/${key.id}`)];

    expect(first.body).toEqual({
      object: 'api_key',
      id: key.id,
      status: 'revoked',
      revoked_at: new Date(world.clock.now() - 5000).toISOString(),
    });
    for (const repeat of responses) expect([repeat.status, repeat.text]).toEqual([200, first.text]);
    expect(entriesOf(await list('?limit=1'))).toMatchObject([{ id: key.id, status: 'revoked' }]);
  });

  it('an admin key can revoke itself, once', async () => {
    const key = await world.key({ scopes: ['admin'] });

    expect((await revoke(key.id, { key: key.secret })).status).toBe(200);
    expect(errorOf(await revoke(key.id, { key: key.secret })).reason).toBe('revoked_key');
  });

  it('a revocation needs no body, and ignores any key specified in one', async () => {
    const [one, second_key] = [
      await world.key({ scopes: ['email:send'] }),
      await world.key({ scopes: ['email:send'] }),
    ];

    const response = await revoke(one.id, { body: { key_id: second_key.id, foo: 1 } });

    expect(response.body.id).toBe(one.id);
    expect(await works(second_key.secret)).toBe(true);
  });

  it('a revocation takes effect from the next request on every process, even under load', async () => {
    const key = await world.key({ scopes: ['email:send'] });
    expect(await works(key.secret, other)).toBe(true);

    await revoke(key.id);
    const after = await Promise.all(
      Array.from({ length: 40 }, (_, index) => works(key.secret, index % 2 === 0 ? rest : other)),
    );

    expect(countEach(after)).toEqual(new Map([[false, 40]]));
  });

  it('an expired key is listed as expired', async () => {
    const expires_at = new Date(world.clock.now() + 1000).toISOString();
    const { id } = await world.key({ scopes: ['email:send'], expires_at });
    await world.clock.advance(1000);

    expect(entriesOf(await list('?limit=1'))).toMatchObject([{ id, status: 'expired', expires_at }]);
  });
});

describe('201', () => {
  it('a new key works immediately, and the response shows its secret', async () => {
    const response = await create({ name: 'Deploy', scopes: ['email:send', 'email:send'] });

    expect(response.status).toBe(201);
    expect(response.body).toEqual({
      object: 'api_key',
      id: expect.stringMatching(/^key_[0-9a-z]{26}$/),
      name: 'Deploy',
      prefix: 'pr_live_',
      last4: String(response.body.secret).slice(-4),
      scopes: ['email:send'],
      mode: 'live',
      domains: null,
      allowed_ips: null,
      status: 'active',
      created_at: new Date(world.clock.now()).toISOString(),
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
      replaced_by: null,
      secret: expect.stringMatching(/^pr_live_[0-9a-f]{64}$/),
    });
    expect(await works(String(response.body.secret), other)).toBe(true);
  });

  it('a sandbox key can be created with every available restriction', async () => {
    const expires_at = '2030-01-01T00:00:00.000Z';
    const response = await create({
      name: 'Limited',
      scopes: ['email:send'],
      mode: 'sandbox',
      domains: ['GOOD.Test.', 'bücher.test'],
      allowed_ips: ['192.0.2.7', '10.0.0.0/8', '2001:db8::/32', '::1', '::ffff:192.0.2.1'],
      expires_at: '2030-01-01T02:00:00+02:00',
    });

    expect(response.body).toMatchObject({
      prefix: 'pr_test_',
      mode: 'sandbox',
      domains: ['good.test', 'xn--bcher-kva.test'],
      allowed_ips: expect.arrayContaining(['192.0.2.7/32', '10.0.0.0/8', '2001:db8::/32', '::1/128']),
      expires_at,
    });
  });

  it('the secret appears only in this response', async () => {
    const response = await create({ name: 'Once', scopes: ['admin'] });
    const secret = String(response.body.secret);
    const digits = secret.slice('pr_live_'.length);
    await rest.call('POST', '/email/send', { key: secret, body: { from: 'x' } });
    await list('?limit=100', { key: secret });
    await revoke(String(response.body.id), { key: secret });
    await rest.call('GET', '/email/logs', { key: secret });

    const tables = await world.services.sql<{ schema: string; name: string }[]>`
      select schemaname as schema, tablename as name from pg_tables where schemaname in ('public', 'pgboss')`;
    expect(tables.length).toBeGreaterThan(20);
    for (const { schema, name } of tables) {
      const { sql } = world.services;
      const rows = await sql`select from ${sql(`${schema}.${name}`)} as t where t::text like ${`%${digits}%`}`;
      expect([name, rows.length]).toEqual([name, 0]);
    }
    expect(JSON.stringify(world.logged)).not.toContain(digits);
    expect((await list('?limit=100')).text).not.toContain(digits);
  });

  it('read-only fields in the request are ignored', async () => {
    const { workspace_id } = await world.workspace('free');
    const fields = { workspace_id, id: 'key_mine', status: 'revoked', secret: world.secret, created_at: '2000-01-01' };

    const response = await create({ name: 'Mine', scopes: ['email:send'], ...fields });

    expect(response.status).toBe(201);
    for (const [name, value] of Object.entries(fields)) expect(response.body[name]).not.toBe(value);
    expect(entriesOf(await list('?limit=1'))).toMatchObject([{ id: response.body.id }]);
  });

  it('any scope that the caller has can be granted', async () => {
    for (const scope of scopes) expect((await create({ name: scope, scopes: [scope] })).status).toBe(201);
  });
});

describe('400', () => {
  it.each<[unknown, string[]]>([
    [{}, ['name missing_field', 'scopes missing_field']],
    [{ name: '', scopes: [] }, ['name invalid_type', 'scopes invalid_type']],
    [{ name: 'x'.repeat(101), scopes: ['email:send'] }, ['name invalid_type']],
    [{ name: 'a\0b', scopes: ['email:send'] }, ['name invalid_type']],
    [{ name: 'a\r\nb', scopes: ['email:send'] }, ['name invalid_type']],
    [{ name: 'a\u001b[31mb', scopes: ['email:send'] }, ['name invalid_type']],
    [{ name: 'a\u0085b', scopes: ['email:send'] }, ['name invalid_type']],
    [{ name: 'x', scopes: ['email:send'], expires_at: '2001-01-01T00:00:00Z' }, ['expires_at invalid_timestamp']],
    [{ name: 'x', scopes: 'email:send' }, ['scopes invalid_type']],
    [{ name: 'x', scopes: ['email:send', 'root'] }, ['scopes[1] invalid_type']],
    [{ name: 'x', scopes: ['email:send'], mode: 'test' }, ['mode invalid_type']],
    [{ name: 'x', scopes: ['email:send'], domains: [] }, ['domains invalid_type']],
    [{ name: 'x', scopes: ['email:send'], domains: ['*.x.test'] }, ['domains[0] invalid_domain']],
    [{ name: 'x', scopes: ['email:send'], expires_at: 'tomorrow' }, ['expires_at invalid_timestamp']],
    [{ name: 'x', scope: ['email:send'] }, ['scope misspelled_field', 'scopes missing_field']],
    [{ name: 'x', scopes: ['email:send'], expiresAt: null }, ['expiresAt misspelled_field']],
    [null, [' invalid_type']],
  ])('the input %j is rejected', async (body, details) => {
    const response = await create(body);

    expect(response.status, response.text).toBe(400);
    expect(detailsOf(response)).toEqual(details);
  });

  it.each([
    'x',
    '',
    '1.2.3',
    '1.2.3.4/33',
    '1.2.3.4/',
    '1.2.3.4/8',
    '1.2.3.4/024',
    '::/129',
    'fe80::1%eth0',
    'fe80::1%eth0/128',
    '10.0.0.0/8/8',
    ' 10.0.0.0/8',
    '10.0.0.0/8;',
  ])('the network %j is rejected', async (network) => {
    const response = await create({ name: 'x', scopes: ['email:send'], allowed_ips: ['10.0.0.0/8', network] });

    expect(detailsOf(response)).toEqual(['allowed_ips[1] invalid_type']);
  });

  it('a body larger than 100 kB is rejected', async () => {
    const response = await create({ name: 'x'.repeat(100 * 1024), scopes: ['email:send'] });

    expect(errorOf(response).reason).toBe('body_too_large');
  });

  it('an invalid Idempotency-Key is rejected only after permissions are checked', async () => {
    const headers = { 'idempotency-key': 'k'.repeat(256) };

    const body = { name: 'x', scopes: ['email:send'] };

    expect(errorOf(await create(body, { headers })).reason).toBe('invalid_idempotency_key');
    expect((await create(body, { headers, key: null })).status).toBe(401);
  });
});

describe('422', () => {
  it('the 1,001st active key of a mode is rejected, even concurrently, until one is revoked or expires', async () => {
    const { workspace_id, secret: key } = await world.workspace('business');
    const { sql } = world.services;
    const more = (count: number, mode: string, expires_at: Date | null) => sql`
      insert into api_keys (workspace_id, id, name, secret_hash, prefix, last4, scopes, mode, created_at, expires_at)
      select ${workspace_id}, derived_id('key', id_floor(clock_now()), random()::text), 'One of many', decode(md5(random()::text), 'hex'), 'pr_live_', '0000',
        '{email:send}', ${mode}, clock_now(), ${expires_at} from generate_series(1, ${count})`;
    await more(997, 'live', null);
    await more(1, 'live', new Date(world.clock.now() + 1000));
    await more(20, 'live', new Date(world.clock.now()));
    const make = (mode = 'live', server = rest) =>
      server.call('POST', '/api-keys', { key, body: { name: 'One more', scopes: ['email:send'], mode } });

    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) => make('live', index % 2 ? rest : other)),
    );

    const created = responses.filter(({ status }) => status === 201);
    const [rejected] = responses.filter(({ status }) => status === 422);
    expect(countEach(responses.map(({ status }) => status))).toEqual(
      new Map([
        [201, 1],
        [422, 7],
      ]),
    );
    expect(errorOf(rejected as ApiResponse)).toMatchObject({
      reason: 'key_limit',
      message: expect.stringContaining('Revoke'),
    });
    expect((await make('sandbox')).status).toBe(201);
    await revoke(String(created[0]?.body.id), { key });
    expect([(await make()).status, (await make()).status]).toEqual([201, 422]);
    await world.clock.advance(1000);
    expect([(await make()).status, (await make()).status]).toEqual([201, 422]);
  });
});

describe('401', () => {
  it('all three endpoints need a valid key', async () => {
    for (const response of [
      await list('', { key: null }),
      await create({}, { key: null }),
      await revoke('x', { key: null }),
    ])
      expect(errorOf(response)).toMatchObject({ code: 'unauthorized', reason: 'missing_key' });
  });

  it('an unauthenticated revocation leaves the key active', async () => {
    const key = await world.key({ scopes: ['email:send'] });

    expect((await revoke(key.id, { key: `pr_live_${'0'.repeat(64)}` })).status).toBe(401);
    expect(await works(key.secret)).toBe(true);
  });
});

describe('403', () => {
  it('an admin key without the operator scope can neither revoke nor rotate a key that has it', async () => {
    const admin = await world.key({ scopes: ['admin'] });
    const operator = await world.key({ scopes: ['email:send', 'operator'] });

    const response = await revoke(operator.id, { key: admin.secret });

    expect([response.status, errorOf(response)]).toMatchObject([
      403,
      { reason: 'missing_scope', required_scope: 'operator' },
    ]);
    expect(await works(operator.secret)).toBe(true);
    expect((await revoke(operator.id, { key: operator.secret })).status).toBe(403);
    const both = await world.key({ scopes: ['admin', 'operator'] });
    expect((await revoke(operator.id, { key: both.secret })).status).toBe(200);
  });

  it('all three endpoints require the admin scope, which is checked before the body is read', async () => {
    const target = await world.key({ scopes: ['email:send'] });
    for (const scope of scopes.filter((one) => one !== 'admin')) {
      const { secret: key } = await world.key({ scopes: [scope] });
      for (const response of [
        await list('?limit=0', { key }),
        await create('{', { key }),
        await create({ name: 'x', scopes: [scope] }, { key }),
        await revoke(target.id, { key }),
      ]) {
        expect(response.status).toBe(403);
        expect(errorOf(response)).toMatchObject({ reason: 'missing_scope', required_scope: 'admin' });
      }
    }
    expect(await works(target.secret)).toBe(true);
  });

  it('an expiring or network-restricted key cannot create a key with broader access', async () => {
    const expires_at = new Date(world.clock.now() + 3_600_000).toISOString();
    const expiry = new Date(world.clock.now() + 3_601_000).toISOString();
    const { secret: key } = await world.key({ scopes: ['admin'], expires_at, allowed_ips: ['127.0.0.0/8'] });
    const within = { name: 'x', scopes: ['email:send'], expires_at, allowed_ips: ['127.1.0.0/16', '127.0.0.1'] };
    for (const fields of [
      { expires_at: null },
      { expires_at: expiry },
      { allowed_ips: null },
      { allowed_ips: ['127.0.0.1', '10.0.0.0/8'] },
    ]) {
      const response = await create({ ...within, ...fields }, { key });
      expect([response.status, errorOf(response).reason], response.text).toEqual([403, 'missing_scope']);
    }
    expect((await create(within, { key })).status).toBe(201);
  });

  it('a domain-restricted key cannot create keys for other domains', async () => {
    const { secret: key } = await world.key({ scopes: ['admin'], domains: ['one.test', 'two.test'] });
    for (const domains of [undefined, null, ['three.test'], ['one.test', 'three.test']]) {
      const reply = await create({ name: 'x', scopes: ['email:send'], domains }, { key });
      expect([reply.status, errorOf(reply).reason]).toEqual([403, 'key_domain_restricted']);
    }
    const response = await create({ name: 'x', scopes: ['email:send'], domains: ['ONE.test'] }, { key });
    expect(response.body.domains).toEqual(['one.test']);
  });

  it('a key cannot grant scopes that it lacks', async () => {
    const { secret: key } = await world.key({ scopes: ['admin'] });

    const response = await create({ name: 'x', scopes: ['email:send', 'operator'] }, { key });

    expect(response.status).toBe(403);
    expect(errorOf(response)).toMatchObject({ reason: 'missing_scope', required_scope: 'operator' });
    expect((await create({ name: 'x', scopes: ['email:send', 'admin'] }, { key })).status).toBe(201);
  });
});

describe('404', () => {
  it('a key in another workspace looks nonexistent, and still works', async () => {
    const theirs = await world.workspace('free');

    const responses = [await revoke(newId('api_key', world.clock.now())), await revoke(theirs.key_id)];

    const [absent, foreign] = responses.map((response) => ({
      status: response.status,
      text: response.text.replaceAll(/(key|req)_[0-9a-z]{26}/g, '$1'),
    }));
    expect([absent?.status, errorOf(responses[0] as ApiResponse).reason]).toEqual([404, 'api_key_not_found']);
    expect(foreign).toEqual(absent);
    expect(await works(theirs.secret)).toBe(true);
  });

  it.each(['x', 'key_', '%F0%9F%92%A9', "'%20or%201=1--"])('the id %j is not found', async (id) => {
    expect(errorOf(await revoke(id)).reason).toBe('api_key_not_found');
  });
});

describe('429', () => {
  it('the 121st request within a minute is rejected on any of the three endpoints', async () => {
    const key = await world.key({ scopes: ['admin'] });
    await fillWindow(world, key.id, 'default', 117);
    const options = { key: key.secret };

    const statuses = [
      (await list('', options)).status,
      (await create('{', options)).status,
      (await revoke('x', options)).status,
      (await revoke(key.id, options)).status,
      (await list('', options)).status,
    ];

    expect(statuses).toEqual([200, 400, 404, 429, 429]);
    expect(await works(key.secret)).toBe(true);
    const limited = await list('', options);
    expect(errorOf(limited).reason).toBe('default_rate');
    expect(rateOf(limited, world.clock.now())).toMatchObject({ limit: 120, remaining: 0 });
  });

  it('exactly 120 of 150 concurrent requests to two processes are allowed', async () => {
    const { secret: key } = await world.key({ scopes: ['admin'] });

    const responses = await Promise.all(
      Array.from({ length: 150 }, (_, index) => (index % 2 === 0 ? rest : other).call('GET', '/api-keys', { key })),
    );

    expect(countEach(responses.map((response) => response.status))).toEqual(
      new Map([
        [200, 120],
        [429, 30],
      ]),
    );
  });
});

describe('500', () => {
  it('no JSON value causes an internal error', async () => {
    await world.services.sql`update plans set default_per_minute = 1000000 where name = 'business'`;
    const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), fc.ipV4Extended(), fc.ipV6());
    const anything = fc.oneof(text, fc.jsonValue());
    const network = fc.tuple(fc.oneof(fc.ipV4(), fc.ipV6(), text), fc.nat(140)).map(([ip, bits]) => `${ip}/${bits}`);
    const nearly = fc.record(
      {
        name: fc.oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 100 }), anything),
        scopes: fc.oneof(fc.subarray<Scope>([...scopes]), anything),
        mode: fc.oneof(fc.constantFrom('live', 'sandbox'), anything),
        domains: fc.oneof(fc.array(fc.oneof(fc.domain(), text)), anything),
        allowed_ips: fc.oneof(fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), network)), anything),
        expires_at: fc.oneof(
          fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
          anything,
        ),
      },
      { requiredKeys: [] },
    );

    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.jsonValue(), nearly), async (body) => {
        const full_body =
          typeof body === 'object' && body !== null ? { name: 'x', scopes: ['email:send'], ...body } : body;
        for (const response of [await create(JSON.stringify(body)), await create(JSON.stringify(full_body))])
          expect([201, 400, 403], response.text).toContain(response.status);
      }),
      { numRuns: 200 },
    );
  });
});
