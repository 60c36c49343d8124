import { z } from 'zod';
import { idPrefixes } from '../fields/ids.ts';
import { idField, timeField } from '../fields/wire.ts';
import { accessibleMode } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { type KeyUsage, keyUsageFields, keyUsageSchema, readUsageByKey } from '../stats/index.ts';
import { keyEntry, keyNotFound } from './key-entry.ts';
import { keyById, keysByIds } from './store.ts';

const MAX_IDS = 100;

const usageEntrySchema = keyUsageSchema.extend({ last_used_at: timeField.nullable() }).meta({ id: 'ApiKeyUsageEntry' });

/** Returns the usage of one key, to help decide whether to revoke it. */
export const keyUsage = operation({
  name: 'api_keys.usage',
  scope: 'admin',
  sandbox: true,
  summary: 'API key usage over time',
  input: z.object({ key_id: idField(idPrefixes.api_key), ...keyUsageFields }),
  output: usageEntrySchema,
  async run(ctx, { key_id, ...range }) {
    const row = await keyById(ctx.sql, ctx.actor.workspace_id, accessibleMode(ctx.actor), key_id);
    if (!row) throw keyNotFound(key_id);
    const [usage] = await readUsageByKey(ctx, [key_id], range);
    if (!usage) throw new Error('the usage of a key was not counted');
    return { ...usage, last_used_at: keyEntry(row).last_used_at };
  },
});

/** Returns the usage of several keys, in the order given; null for those not in the workspace. */
export const readKeyUsages = operation({
  name: 'api_keys.usages',
  scope: 'admin',
  sandbox: true,
  summary: 'Usage of several API keys over time',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS), ...keyUsageFields }),
  output: z.array(keyUsageSchema.nullable()).readonly(),
  async run(ctx, { ids, ...range }): Promise<readonly (KeyUsage | null)[]> {
    const rows = await keysByIds(ctx.sql, ctx.actor.workspace_id, accessibleMode(ctx.actor), ids);
    const key_ids = rows.map(({ id }) => id);
    const by_id = new Map((await readUsageByKey(ctx, key_ids, range)).map((usage) => [usage.key_id, usage]));
    return ids.map((id) => by_id.get(id) ?? null);
  },
});
