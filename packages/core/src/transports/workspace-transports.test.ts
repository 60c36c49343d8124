import { openWorld } from '@postrider/testing/open-world';
import { beforeEach, describe, expect, it } from 'vitest';
import { listAudit } from '../audit/index.ts';
import { createContext } from '../create-context.ts';
import type { Context } from '../operation/context.ts';
import { invoke } from '../operation/operation.ts';
import type { Scope } from '../operation/scopes.ts';
import { createTransport } from './create-transport.ts';
import { deleteTransport } from './delete-transport.ts';
import { listTransports } from './list-transports.ts';
import { previewRoute } from './preview-route.ts';
import { getTransportRules, setTransportRules } from './rules.ts';
import { transportsVersion } from './store.ts';
import { getTransportHealth } from './transport-health.ts';
import { updateTransport } from './update-transport.ts';

const world = await openWorld({ DELIVERY: 'mx' });
const owner = await world.workspace('business');
const neighbor = await world.workspace('business');
const without = await world.workspace('free');
beforeEach(async () => {
  await world.services.sql`delete from transport_rules`;
  await world.services.sql`delete from workspace_transport_rules`;
  await world.services.sql`delete from transports`;
});

function actorIn({ workspace_id, key_id }: typeof owner, ...scopes: Scope[]): Context {
  const actor = { kind: 'key', workspace_id, key_id, scopes, mode: 'live', domains: null } as const;
  return createContext(world.services, actor, { via: 'graphql' });
}

const admin = (workspace = owner) => actorIn(workspace, 'admin');
const operator = () => actorIn(neighbor, 'operator');
const create = (ctx: Context, fields: object = {}) =>
  invoke(ctx, createTransport, { name: 'Relay', kind: 'smtp', host: 'relay.example', ...fields });
const namesOf = async (ctx: Context, reach?: 'workspace' | 'instance') =>
  (await invoke(ctx, listTransports, { reach })).data.map(({ name }) => name);

describe('a transport of a workspace', () => {
  it('is seen and changed by its admins and by operators', async () => {
    const { id, workspace_id } = await create(admin());
    const not_found = { reason: 'transport_not_found' };

    expect(workspace_id).toBe(owner.workspace_id);
    expect(await namesOf(admin())).toEqual(['Relay']);
    expect(await namesOf(admin(neighbor))).toEqual([]);
    expect(await namesOf(operator())).toEqual(['DELIVERY']);
    const change = { transport_id: id, port: 2525 };
    await expect(invoke(admin(neighbor), updateTransport, change)).rejects.toMatchObject(not_found);
    await expect(invoke(admin(neighbor), deleteTransport, { transport_id: id })).rejects.toMatchObject(not_found);
    expect(await invoke(admin(), updateTransport, change)).toMatchObject({ port: 2525 });
    expect(await invoke(operator(), deleteTransport, { transport_id: id })).toMatchObject({ deleted: true });
  });

  it('requires admin', async () => {
    const key = actorIn(owner, 'email:send');
    const refused = { reason: 'missing_scope', facts: { required_scope: 'admin' } };
    await expect(create(key)).rejects.toMatchObject(refused);
    await expect(invoke(key, listTransports, {})).rejects.toMatchObject(refused);
    await expect(invoke(key, getTransportHealth, {})).rejects.toMatchObject(refused);
  });

  it('leaves the transports of the instance unseen and unchanged', async () => {
    const { id } = await create(operator());
    const not_found = { reason: 'transport_not_found' };

    expect(await namesOf(admin())).toEqual([]);
    await expect(invoke(admin(), deleteTransport, { transport_id: id })).rejects.toMatchObject(not_found);
    await expect(invoke(admin(), updateTransport, { transport_id: id, port: 1 })).rejects.toMatchObject(not_found);
    expect((await invoke(admin(), getTransportHealth, {})).data).toEqual([]);
  });

  it('needs a plan that allows it, and room in it', async () => {
    await expect(create(admin(without))).rejects.toMatchObject({ reason: 'transport_limit' });
    for (let count = 0; count < 10; count++) await create(admin(), { name: `Relay ${count}` });
    await expect(create(admin(), { name: 'One more' })).rejects.toMatchObject({ reason: 'transport_limit' });
    await create(admin(neighbor));
  });

  it('is a relay, with a name that is unique in its workspace', async () => {
    await create(operator());
    await create(admin(neighbor));
    await create(admin());

    await expect(create(admin())).rejects.toMatchObject({ reason: 'transport_exists' });
    await expect(create(admin(), { name: 'MX', kind: 'mx', host: undefined })).rejects.toMatchObject({
      reason: 'misplaced_field',
    });
  });

  it('is audited in its workspace', async () => {
    const { id } = await create(admin());
    await invoke(admin(), setTransportRules, { rules: [{ transports: [id] }] });

    const { data } = await invoke(admin(), listAudit, { chain: 'workspace', limit: 2 });

    expect(data.map(({ action }) => action)).toEqual(['transport.rules_set', 'transport.created']);
  });

  it('has a health of its own', async () => {
    const { id } = await create(admin());
    const { data } = await invoke(admin(), getTransportHealth, {});
    expect(data).toMatchObject([{ transport_id: id, status: 'ok', waiting: 0 }]);
  });
});

describe('the rules of a workspace', () => {
  it('name its own transports or the default one', async () => {
    const { id } = await create(admin());
    const instance = await create(operator());
    const foreign = await create(admin(neighbor));
    const setRules = (...transports: string[]) => invoke(admin(), setTransportRules, { rules: [{ transports }] });
    const unknown = { reason: 'unknown_transport' };

    expect((await setRules(id, 'default')).data).toMatchObject([{ workspace_id: null, transports: [id, 'default'] }]);
    await expect(setRules(foreign.id)).rejects.toMatchObject(unknown);
    await expect(setRules(instance.id)).rejects.toMatchObject(unknown);
    await expect(invoke(operator(), setTransportRules, { rules: [{ transports: [id] }] })).rejects.toMatchObject(
      unknown,
    );
    await expect(
      invoke(admin(), setTransportRules, { rules: [{ workspace_id: neighbor.workspace_id, transports: [id] }] }),
    ).rejects.toMatchObject({ reason: 'misplaced_field' });
    await expect(
      invoke(admin(), setTransportRules, { rules: Array.from({ length: 51 }, () => ({ transports: [id] })) }),
    ).rejects.toMatchObject({ reason: 'misplaced_field' });
    await expect(invoke(admin(), deleteTransport, { transport_id: id })).rejects.toMatchObject({
      reason: 'transport_in_use',
    });
    expect((await invoke(operator(), getTransportRules, {})).data).toEqual([]);
    expect((await invoke(admin(neighbor), getTransportRules, {})).data).toEqual([]);
  });

  it('are read by workers without those of the instance', async () => {
    const before = await transportsVersion(world.services.sql);
    await invoke(admin(), setTransportRules, { rules: [{ transports: ['default'] }] });
    const after = await transportsVersion(world.services.sql);

    expect(after.version).toBe(before.version);
    expect(Number(after.workspace_version)).toBe(Number(before.workspace_version) + 1);
  });

  it('are previewed, without what the instance does', async () => {
    const { id } = await create(admin());
    const instance = await create(operator());
    await invoke(operator(), setTransportRules, { rules: [{ transports: [instance.id] }] });
    await invoke(admin(), setTransportRules, { rules: [{ tag: 'bulk', transports: [id, 'default'] }] });
    const email = { from_domain: 'shop.example', to_domain: 'example.com' };
    const preview = async (ctx: Context, fields: object = {}) => {
      const { transports, captured, ...rule } = await invoke(ctx, previewRoute, { ...email, ...fields });
      expect(captured).toBe(world.services.config.DELIVERY.some(({ kind }) => kind === 'capture'));
      return { ...rule, transports: transports.map((one) => one.id) };
    };
    const object = 'transport_route';

    expect(await preview(admin(), { tags: ['bulk'] })).toEqual({
      ...{ object, rule: 1, rule_of: 'workspace', transports: [id, 'default'] },
    });
    expect(await preview(admin())).toEqual({ object, rule: null, rule_of: null, transports: ['default'] });
    expect(await preview(admin(), { rules: [{ transports: [id] }] })).toMatchObject({ rule: 1, transports: [id] });
    const { workspace_id } = owner;
    expect(await preview(operator(), { workspace_id, tags: ['bulk'] })).toEqual({
      ...{ object, rule: 1, rule_of: 'workspace', transports: [id, instance.id] },
    });
    expect(await preview(operator(), { workspace_id })).toEqual({
      ...{ object, rule: 1, rule_of: 'instance', transports: [instance.id] },
    });
  });
});
