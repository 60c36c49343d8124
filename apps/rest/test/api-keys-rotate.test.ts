import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { type CallOptions, errorOf, openRest } from './rest-server.ts';

const DAY_MS = 86_400_000;

const world = await openWorld();
const rest = await openRest(world);

const rotate = (id: string, options: CallOptions = {}) => rest.call('POST', `/api-keys/${id}/rotate`, options);
const create = async (body: object) => (await rest.call('POST', '/api-keys', { body })).body;
const statusWith = async (secret: string) => (await rest.call('GET', '/api-keys/current', { key: secret })).status;

describe('201', () => {
  it('the replacement key has the same rights, and the old key works for another day', async () => {
    const expires_at = new Date(world.clock.now() + 30 * DAY_MS).toISOString();
    const limits = { scopes: ['email:send'], domains: ['sandbox.test'], allowed_ips: ['127.0.0.0/8'], expires_at };
    const { secret: old_secret, ...old } = await create({ name: 'Shop', mode: 'sandbox', ...limits });

    const response = await rotate(String(old.id));

    const { secret, ...key } = response.body;
    expect(response.status, response.text).toBe(201);
    expect(key).toMatchObject({
      ...old,
      id: expect.not.stringMatching(String(old.id)),
      last4: String(secret).slice(-4),
      created_at: expect.any(String),
      last_used_at: null,
      replaced_by: null,
    });
    expect(String(secret)).toMatch(/^pr_test_[0-9a-f]{64}$/);
    expect([await statusWith(String(old_secret)), await statusWith(String(secret))]).toEqual([200, 200]);
    const { data } = (await rest.call('GET', '/api-keys')).body as { data: Record<string, unknown>[] };
    const replaced = data.find(({ id }) => id === old.id);
    expect(replaced).toMatchObject({ status: 'active', replaced_by: key.id });
    expect(Math.abs(Date.parse(String(replaced?.expires_at)) - world.clock.now() - DAY_MS)).toBeLessThan(60_000);

    await world.clock.advance(DAY_MS + 60_000);

    expect([await statusWith(String(old_secret)), await statusWith(String(secret))]).toEqual([401, 200]);
  });

  it("a rotation never extends a key's expiry", async () => {
    const expires_at = new Date(world.clock.now() + DAY_MS / 2).toISOString();
    const { id } = await create({ name: 'Short', scopes: ['email:send'], expires_at });

    const { body } = await rotate(String(id));

    const { data } = (await rest.call('GET', '/api-keys')).body as { data: Record<string, unknown>[] };
    expect(data.find((key) => key.id === id)).toMatchObject({ expires_at });
    expect(body).toMatchObject({ expires_at });
  });

  it('a rotation is recorded in the audit log with both keys but no secret', async () => {
    const { id } = await create({ name: 'Seen', scopes: ['email:send'] });

    const { body } = await rotate(String(id));

    const rows = await world.services.sql<{ diff: string }[]>`
      select diff::text as diff from audit_log where target_id = ${String(body.id)} and action = 'api_key.rotated'`;
    expect(rows.map(({ diff }) => JSON.parse(diff))).toMatchObject([{ name: 'Seen', replaces: id }]);
    expect(JSON.stringify(rows)).not.toContain(String(body.secret));
  });
});

describe('403', () => {
  it('a key with more rights than the caller cannot be rotated', async () => {
    const admin = await world.key({ scopes: ['admin'] });
    const operator = await create({ name: 'Operator', scopes: ['operator'] });

    const response = await rotate(String(operator.id), { key: admin.secret });

    expect([response.status, errorOf(response)]).toMatchObject([
      403,
      { reason: 'missing_scope', required_scope: 'operator' },
    ]);
  });

  it('an expiring key cannot create a longer-lived key', async () => {
    const { id, secret } = await create({ name: 'Own', scopes: ['admin'] });
    const other = await create({ name: 'Other', scopes: ['admin'] });
    await rotate(String(id));

    const response = await rotate(String(other.id), { key: String(secret) });

    expect([response.status, errorOf(response).reason]).toEqual([403, 'missing_scope']);
  });
});

it('404: a key in another workspace is not found', async () => {
  const other = await world.workspace('free');
  const { id } = await create({ name: 'Mine', scopes: ['email:send'] });

  const response = await rotate(String(id), { key: other.secret });

  expect([response.status, errorOf(response).reason]).toEqual([404, 'api_key_not_found']);
});

describe('422', () => {
  it('a key can be replaced only once, even by concurrent requests', async () => {
    const { id } = await create({ name: 'Twice', scopes: ['email:send'] });

    const responses = await Promise.all([rotate(String(id)), rotate(String(id)), rotate(String(id))]);

    expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 422, 422]);
    const key = responses.find(({ status }) => status === 201)?.body;
    for (const response of responses.filter(({ status }) => status === 422))
      expect(errorOf(response)).toMatchObject({ reason: 'already_rotated', replaced_by: key?.id });
  });

  it('a mode is limited to 1,000 replaced keys that still work, even under concurrent requests', async () => {
    const { workspace_id, secret: key } = await world.workspace('business');
    const { sql } = world.services;
    const more = (count: number, replaced_by: string | null) => sql<{ id: string }[]>`
      insert into api_keys (workspace_id, id, name, secret_hash, prefix, last4, scopes, mode, created_at, expires_at,
        replaced_by)
      select ${workspace_id}, derived_id('key', id_floor(clock_now()), random()::text), 'One of many',
        decode(md5(random()::text), 'hex'), 'pr_live_', '0000', '{email:send}', 'live', clock_now(),
        ${replaced_by && new Date(world.clock.now() + DAY_MS / 2)}::timestamptz, ${replaced_by}
      from generate_series(1, ${count}) returning id`;
    const [first, ...others] = (await more(999, null)).map(({ id }) => id);
    const make = async () =>
      (await rest.call('POST', '/api-keys', { key, body: { name: 'One more', scopes: ['email:send'] } })).status;

    const full = await make();
    const rotated = await rotate(String(first), { key });
    const still_full = await make();
    await more(998, first ?? null);
    const responses = await Promise.all(others.slice(0, 8).map((id) => rotate(id, { key })));
    await rest.call('DELETE', `/api-keys/${first}`, { key });
    const freed = [await rotate(String(others[8]), { key }), await rotate(String(others[9]), { key })];
    await world.clock.advance(DAY_MS / 2);
    const next_rotation = await rotate(String(others[9]), { key });

    expect([full, rotated.status, still_full]).toEqual([422, 201, 422]);
    expect(responses.map(({ status }) => status).toSorted()).toEqual([201, ...Array<number>(7).fill(422)]);
    for (const response of responses.filter(({ status }) => status === 422))
      expect(errorOf(response)).toMatchObject({ reason: 'key_limit', message: expect.stringContaining('replaced') });
    expect([...freed, next_rotation].map(({ status }) => status)).toEqual([201, 422, 201]);
    expect(await make()).toBe(422);
  });

  it('a key that no longer works cannot be replaced', async () => {
    const { id } = await create({ name: 'Gone', scopes: ['email:send'] });
    await rest.call('DELETE', `/api-keys/${id}`);

    const response = await rotate(String(id));

    expect([response.status, errorOf(response).reason]).toEqual([422, 'api_key_not_active']);
  });
});
