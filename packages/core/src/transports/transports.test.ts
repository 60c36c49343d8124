import { openWorld } from '@postrider/testing/open-world';
import { beforeEach, describe, expect, it } from 'vitest';
import { listAudit } from '../audit/index.ts';
import { createContext } from '../create-context.ts';
import { closeLane } from '../lanes/index.ts';
import type { Context } from '../operation/context.ts';
import { invoke } from '../operation/operation.ts';
import type { Scope } from '../operation/scopes.ts';
import { createEncryption } from '../process/encryption.ts';
import { countSecrets, reencryptSecrets } from '../secrets/index.ts';
import { createTransport } from './create-transport.ts';
import { deleteTransport } from './delete-transport.ts';
import { closeSpentLanes } from './limit-store.ts';
import { listTransports } from './list-transports.ts';
import { previewRoute } from './preview-route.ts';
import { getTransportRules, setTransportRules } from './rules.ts';
import { transportById, transportsVersion } from './store.ts';
import { transportPurpose } from './transport.ts';
import { getTransportHealth } from './transport-health.ts';
import { updateTransport } from './update-transport.ts';

const PASSWORD = 'a-password-that-no-one-may-read';

const world = await openWorld();
const { key_id } = await world.workspace('free');
beforeEach(async () => {
  await world.services.sql`delete from transport_rules`;
  await world.services.sql`delete from transports`;
});

function actorWith(scopes: readonly Scope[]): Context {
  const { workspace_id } = world;
  const actor = { kind: 'key', workspace_id, key_id, scopes, mode: 'live', domains: null } as const;
  return createContext(world.services, actor, { via: 'graphql' });
}

const operator = () => actorWith(['operator']);
const create = (fields: object = {}) =>
  invoke(operator(), createTransport, {
    name: 'SES',
    kind: 'smtp',
    host: 'Relay.Example.com',
    username: 'api',
    password: PASSWORD,
    ...fields,
  });
const setRules = (...rules: object[]) => invoke(operator(), setTransportRules, { rules });

describe('a transport', () => {
  it('requires operator access if it is of the instance', async () => {
    const refused = { reason: 'missing_scope', facts: { required_scope: 'operator' } };
    const admin = actorWith(['admin']);
    const reach = 'instance';
    await expect(invoke(admin, listTransports, { reach })).rejects.toMatchObject(refused);
    await expect(invoke(admin, createTransport, { reach, name: 'MX', kind: 'mx' })).rejects.toMatchObject(refused);
    await expect(invoke(admin, getTransportRules, { reach })).rejects.toMatchObject(refused);
    await expect(invoke(admin, setTransportRules, { reach, rules: [] })).rejects.toMatchObject(refused);
  });

  it('is listed after the default one, without its password', async () => {
    const transport = await create();

    const { data } = await invoke(operator(), listTransports, {});

    expect(data).toEqual([
      expect.objectContaining({ id: 'default', name: 'DELIVERY', kind: 'capture', created_at: null }),
      transport,
    ]);
    expect(transport).toMatchObject({ host: 'relay.example.com', port: 587, tls: 'starttls', username: 'api' });
    expect(JSON.stringify(data)).not.toContain(PASSWORD);
  });

  it('is audited without its password', async () => {
    const { id } = await create();
    await invoke(operator(), updateTransport, { transport_id: id, port: 2525, password: `${PASSWORD}-2` });
    await invoke(operator(), deleteTransport, { transport_id: id });

    const { data } = await invoke(operator(), listAudit, { chain: 'instance', limit: 3 });

    expect(data.map(({ action }) => action)).toEqual(['transport.deleted', 'transport.updated', 'transport.created']);
    expect(data[1]?.diff).toEqual({ port: [587, 2525], password: 'replaced' });
    expect(JSON.stringify(data)).not.toContain(PASSWORD);
  });

  it('has its password encrypted, and encrypted again under a new SECRET_KEY', async () => {
    const { id } = await create();
    const stored = (await transportById(world.services.sql, id))?.password;
    expect(stored?.toString('latin1')).not.toContain(PASSWORD);
    const { secret_key } = world.services;
    const current = createEncryption('b'.repeat(64), secret_key);
    const rotated = { ...world.services, encryption: current };

    await reencryptSecrets(rotated, { key_id: current.key_id.toString('hex') });

    expect(await countSecrets(rotated)).toMatchObject({ previous: 0, lost: 0 });
    const password = (await transportById(world.services.sql, id))?.password ?? Buffer.alloc(0);
    expect(createEncryption('b'.repeat(64)).decrypt(password, transportPurpose(id)).toString()).toBe(PASSWORD);
    await reencryptSecrets(
      { ...world.services, encryption: createEncryption(secret_key, 'b'.repeat(64)) },
      { key_id: world.services.encryption.key_id.toString('hex') },
    );
  });

  it.each([
    [{ host: undefined }, 'missing_field', 'host'],
    [{ kind: 'mx' }, 'misplaced_field', 'host'],
    [{ password: undefined }, 'missing_field', 'password'],
    [{ username: undefined }, 'missing_field', 'username'],
    [{ name: 'default' }, 'invalid_type', 'name'],
    [{ port: 0 }, 'invalid_type', 'port'],
  ])('%j is rejected with %s', async (fields, reason, param) => {
    await expect(create(fields)).rejects.toMatchObject({
      facts: { details: [expect.objectContaining({ param, reason })] },
    });
  });

  it('has a unique name', async () => {
    await create();
    const other = await create({ name: 'Mailgun' });

    await expect(create()).rejects.toMatchObject({ reason: 'transport_exists' });
    await expect(invoke(operator(), updateTransport, { transport_id: other.id, name: 'SES' })).rejects.toMatchObject({
      reason: 'transport_exists',
    });
  });

  it('loses its password with its user', async () => {
    const { id } = await create();

    expect(await invoke(operator(), updateTransport, { transport_id: id, username: null })).toMatchObject({
      username: null,
    });

    expect(await transportById(world.services.sql, id)).toMatchObject({ username: null, password: null });
  });
});

describe('rules', () => {
  it('replace each other, in order, and change the version', async () => {
    const { id } = await create();
    const before = await transportsVersion(world.services.sql);

    await setRules(
      { tag: 'bulk', transports: [id, 'default'] },
      { destination: 'Example.COM', transports: ['default'] },
    );
    const { data } = await invoke(operator(), getTransportRules, {});

    const any = { workspace_id: null, from_domain: null, tag: null, priority: null, destination: null };
    expect(data).toEqual([
      { ...any, tag: 'bulk', transports: [id, 'default'] },
      { ...any, destination: 'example.com', transports: ['default'] },
    ]);
    expect(Number((await transportsVersion(world.services.sql)).version)).toBeGreaterThan(Number(before.version));
    expect(await setRules()).toMatchObject({ data: [] });
  });

  it('name only transports and workspaces that exist', async () => {
    await expect(setRules({ transports: ['trn_01m8jq0000000000000000000r'] })).rejects.toMatchObject({
      reason: 'unknown_transport',
    });
    const { workspace_id } = world;
    await expect(
      setRules({ workspace_id: `${workspace_id.slice(0, 8)}0000${workspace_id.slice(12)}`, transports: ['default'] }),
    ).rejects.toMatchObject({ reason: 'workspace_not_found' });
    expect(await setRules({ workspace_id, transports: ['default'] })).toMatchObject({ data: [{ workspace_id }] });
  });

  it('name a transport once each', async () => {
    await expect(setRules({ transports: ['default', 'default'] })).rejects.toMatchObject({ reason: 'invalid_type' });
  });

  it('keep the transports that they name', async () => {
    const { id } = await create();
    await setRules({ transports: [id] });

    await expect(invoke(operator(), deleteTransport, { transport_id: id })).rejects.toMatchObject({
      reason: 'transport_in_use',
    });
    await setRules();
    expect(await invoke(operator(), deleteTransport, { transport_id: id })).toEqual({ id, deleted: true });
    await expect(invoke(operator(), deleteTransport, { transport_id: id })).rejects.toMatchObject({
      reason: 'transport_not_found',
    });
  });
});

describe('a preview', () => {
  it('names the rule that applies and its transports in order, by the saved rules or by a draft', async () => {
    const { id } = await create();
    const preview = (fields: object) =>
      invoke(operator(), previewRoute, { from_domain: 'Shop.Example', to_domain: 'example.com', ...fields });
    const rules = [
      { tag: 'bulk', transports: [id] },
      { from_domain: 'shop.example', transports: [id, 'default'] },
    ];
    expect(await preview({})).toMatchObject({ rule: null, transports: [{ id: 'default', name: 'DELIVERY' }] });

    expect(await preview({ rules })).toMatchObject({ rule: 2, transports: [{ id, name: 'SES' }, { id: 'default' }] });
    await invoke(operator(), setTransportRules, { rules });

    expect(await preview({ tags: ['bulk'] })).toMatchObject({ rule: 1, transports: [{ id, name: 'SES' }] });
    expect(await preview({ rules: [] })).toMatchObject({ rule: null });
    const unknown = preview({ rules: [{ transports: ['trn_none'] }] });
    await expect(unknown).rejects.toMatchObject({ reason: 'unknown_transport' });
  });
});

describe('the health', () => {
  it('tells which transports fail or have used up a limit, until when, and what they have sent', async () => {
    const { sql } = world.services;
    const { id } = await create({ messages_per_day: 100 });
    const other = await create({ name: 'Other' });
    const until = new Date('2130-01-01T00:00:00Z');
    await closeSpentLanes(sql, [`example.com via ${id}`], until);
    await closeLane(sql, { lane: `example.com via ${other.id}`, seconds: 60, closings: 1, last_reply: '421 busy' });
    await closeLane(sql, { lane: `example.net via ${other.id}`, seconds: 60, closings: 1, last_reply: null });

    const { data } = await invoke(operator(), getTransportHealth, {});

    expect(data).toMatchObject([
      { transport_id: 'default', status: 'ok', closed_destinations: 0, closed_until: null, used_today: null },
      { transport_id: other.id, status: 'failing', closed_destinations: 2, last_reply: '421 busy', used_today: null },
      { transport_id: id, status: 'limited', closed_destinations: 1, closed_until: until.toISOString(), used_today: 0 },
    ]);
  });
});
