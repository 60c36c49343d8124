import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { setAlarmSettings } from '../alarms/index.ts';
import { previewBulk, runBulk } from '../bulk/index.ts';
import { INSTANCE } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { invoke } from '../operation/operation.ts';
import { createSuppressions, deleteSuppression } from '../suppressions/index.ts';
import { recordAudit } from './record.ts';

const world = await openWorld();

const entries = (workspace_id: string) => world.services.sql<
  { sequence: string; action: string; target_id: string; actor_name: string; whole: boolean; follows: boolean }[]
>`
  select sequence, action, coalesce(target_name, id_text(target_id)) as target_id, actor_name, hash = audit_hash(a) as whole,
    previous_hash = coalesce(lag(hash) over (order by sequence), '') as follows
  from audit_log a where workspace_id = ${workspace_id} order by sequence`;

const record = (ctx: ActorContext, facts: Parameters<typeof recordAudit>[2]) =>
  world.services.sql.begin((tx) => recordAudit(tx, ctx, facts));

describe('recordAudit', () => {
  it('chains the entries of a workspace by hash', async () => {
    const ctx = world.as(world.workspace_id) as ActorContext;

    await Promise.all(['a', 'b', 'c', 'd'].map((target_id) => record(ctx, [{ action: 'domain.added', target_id }])));

    const rows = await entries(world.workspace_id);
    expect(rows.map(({ sequence }) => Number(sequence))).toEqual([1, 2, 3, 4]);
    expect(rows.every(({ whole: intact, follows }) => intact && follows)).toBe(true);
  });

  it('records the acting key, and keeps instance entries in a separate chain', async () => {
    const { id: key_id } = await world.key({ scopes: ['admin'] });
    const actor = {
      kind: 'key',
      workspace_id: world.workspace_id,
      key_id,
      scopes: [],
      mode: 'live',
      domains: null,
    } as const;
    const ctx: ActorContext = { ...world.as(world.workspace_id), actor };

    await record(ctx, [{ action: 'destination.limited', target_id: 'slow.test', workspace_id: INSTANCE }]);

    const rows = await entries(INSTANCE);
    const [key] = await world.services.sql<{ name: string }[]>`select name from api_keys where id = ${key_id}`;
    expect(rows).toMatchObject([{ action: 'destination.limited', target_id: 'slow.test', actor_name: key?.name }]);
  });

  it('is rolled back together with the change it records', async () => {
    const ctx = world.as(world.workspace_id) as ActorContext;
    const before = await entries(world.workspace_id);

    await expect(
      world.services.sql.begin(async (tx) => {
        await recordAudit(tx, ctx, [{ action: 'domain.removed', target_id: 'x.test' }]);
        throw new Error('changed its mind');
      }),
    ).rejects.toThrow();

    expect(await entries(world.workspace_id)).toHaveLength(before.length);
  });

  it('writes entries that cannot be changed or removed', async () => {
    const { sql } = world.services;
    await expect(sql`update audit_log set reason = 'none'`).rejects.toThrow('appended');
    await expect(sql`delete from audit_log`).rejects.toThrow('appended');
    await expect(sql`truncate audit_log`).rejects.toThrow('appended');
  });

  it('records no recipient, because audit entries cannot be erased', async () => {
    const { workspace_id } = await world.workspace('growth');
    const ctx = world.as(workspace_id);
    const email = 'grace@example.com';

    await invoke(ctx, createSuppressions, { email });
    await invoke(ctx, deleteSuppression, { email });
    const { token } = await invoke(ctx, previewBulk, { action: 'export', filter: { to: email } });
    await invoke(ctx, runBulk, { token, reason: 'asked for' });
    await invoke(ctx, setAlarmSettings, { access: 'workspace', emails: [email] });
    await invoke(ctx, setAlarmSettings, { access: 'workspace', emails: ['grace.hopper@example.com'] });

    const rows = await world.services.sql<{ action: string; diff: string | null; target_name: string | null }[]>`
      select action, diff, target_name from audit_log where workspace_id = ${workspace_id} order by sequence`;
    expect(rows.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['suppression.added', 'suppression.removed', 'bulk.started', 'alarm.settings_changed']),
    );
    expect(rows.at(-1)?.diff).toBe('{"emails":[["…@example.com"],["…@example.com"]]}');
    expect(JSON.stringify(rows)).not.toContain('grace');
  });
});
