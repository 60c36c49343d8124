import { z } from 'zod';
import { type List, pageFields, pageOf, readCursor } from '../list.ts';
import { operation } from '../operation.ts';
import { modeInReach } from '../reach.ts';
import { listOf } from '../wire.ts';
import { type KeyEntry, keyEntry, keySchema } from './key-entry.ts';
import { pageOfKeys } from './store.ts';

export const listKeys = operation({
  name: 'api_keys.list',
  scope: 'admin',
  summary: 'List API keys, newest first',
  input: z.object(pageFields),
  output: listOf(keySchema),
  async run(ctx, { limit, cursor }): Promise<List<KeyEntry>> {
    const { workspace_id } = ctx.actor;
    const scope = { secret_key: ctx.secret_key, list: 'api_keys', workspace_id, filters: {} };
    const mode = modeInReach(ctx.actor);
    const rows = await pageOfKeys(ctx.sql, workspace_id, mode, readCursor(scope, cursor), limit + 1);
    return pageOf(scope, rows, limit, keyEntry);
  },
});
