import { z } from 'zod';
import { accessibleMode } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { keyEntry, keySchema } from './key-entry.ts';
import { keysByIds } from './store.ts';

const MAX_IDS = 1000;

/** Returns keys by id, in the order given; null for those not in the workspace. */
export const readKeys = operation({
  name: 'api_keys.read_many',
  scope: 'admin',
  sandbox: true,
  summary: 'API keys by ID',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(keySchema.nullable()).readonly(),
  async run(ctx, { ids }) {
    const rows = await keysByIds(ctx.sql, ctx.actor.workspace_id, accessibleMode(ctx.actor), ids);
    const by_id = new Map(rows.map((row) => [row.id, keyEntry(row)]));
    return ids.map((id) => by_id.get(id) ?? null);
  },
});
