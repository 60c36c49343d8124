import { z } from 'zod';
import { type List, pageFields, pageOf, readCursor } from '../list.ts';
import { operation } from '../operation.ts';
import { modeInReach } from '../reach.ts';
import { statusListOf } from '../status-list.ts';
import { listOf } from '../wire.ts';
import { type KeyEntry, keyEntry, keySchema, keyStatuses } from './key-entry.ts';
import { pageOfKeys } from './store.ts';

export const listKeys = operation({
  name: 'api_keys.list',
  scope: 'admin',
  summary: 'List API keys, newest first',
  input: z.object({ ...pageFields, status: statusListOf(keyStatuses).optional() }),
  output: listOf(keySchema),
  async run(ctx, { limit, cursor, status }): Promise<List<KeyEntry>> {
    const { workspace_id } = ctx.actor;
    const scope = { secret_key: ctx.secret_key, list: 'api_keys', workspace_id, filters: { status } };
    const wanted = { mode: modeInReach(ctx.actor), statuses: status ?? null };
    const rows = await pageOfKeys(ctx.sql, workspace_id, wanted, readCursor(scope, cursor), limit + 1);
    return pageOf(scope, rows, limit, keyEntry);
  },
});
