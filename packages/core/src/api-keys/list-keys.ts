import { z } from 'zod';
import { listOf } from '../fields/wire.ts';
import { accessibleMode } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { type List, pageFields, pageOf, pageReasons, readCursor } from '../paging/list.ts';
import { statusListOf } from '../paging/status-list.ts';
import { type KeyEntry, keyEntry, keySchema, keyStatuses } from './key-entry.ts';
import { readKeyPage } from './store.ts';

export const listKeys = operation({
  name: 'api_keys.list',
  scope: 'admin',
  sandbox: true,
  summary: 'List API keys, newest first',
  reasons: [...pageReasons, 'invalid_status'],
  input: z.object({ ...pageFields, status: statusListOf(keyStatuses).optional() }),
  output: listOf(keySchema),
  async run(ctx, { limit, cursor, status }): Promise<List<KeyEntry>> {
    const { workspace_id } = ctx.actor;
    const scope = { secret_key: ctx.secret_key, list: 'api_keys', workspace_id, filters: { status } };
    const filter = { mode: accessibleMode(ctx.actor), statuses: status ?? null };
    const rows = await readKeyPage(ctx.sql, workspace_id, filter, readCursor(scope, cursor), limit + 1);
    return pageOf(scope, rows, limit, keyEntry);
  },
});
