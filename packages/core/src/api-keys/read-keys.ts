import { z } from 'zod';
import { operation } from '../operation.ts';
import { modeInReach } from '../reach.ts';
import { keyEntry, keySchema } from './key-entry.ts';
import { keysByIds } from './store.ts';

const MOST = 1000;

/** Some keys by id, in the order asked for; null for what is not in the workspace. */
export const readKeys = operation({
  name: 'api_keys.read_many',
  scope: 'admin',
  summary: 'Some API keys by id',
  input: z.object({ ids: z.array(z.string()).max(MOST) }),
  output: z.array(keySchema.nullable()).readonly(),
  async run(ctx, { ids }) {
    const rows = await keysByIds(ctx.sql, ctx.actor.workspace_id, modeInReach(ctx.actor), ids);
    const found = new Map(rows.map((row) => [row.id, keyEntry(row)]));
    return ids.map((id) => found.get(id) ?? null);
  },
});
