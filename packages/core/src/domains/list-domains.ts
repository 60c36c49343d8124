import { z } from 'zod';
import { listOf } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { type List, pageFields, pageOf, pageReasons, readCursor } from '../paging/list.ts';
import { statusListOf } from '../paging/status-list.ts';
import { type DomainEntry, domainEntry, domainSchema } from './domain-entry.ts';
import { domainStates } from './state.ts';
import { publicKeysOf, readDomainPage } from './store.ts';

export const listDomains = operation({
  name: 'domains.list',
  scope: 'domains:read',
  sandbox: true,
  summary: 'List sending domains, newest first',
  reasons: [...pageReasons, 'invalid_status'],
  input: z.object({ ...pageFields, status: statusListOf(domainStates).optional() }),
  output: listOf(domainSchema),
  async run(ctx, { limit, cursor, status }): Promise<List<DomainEntry>> {
    const { workspace_id } = ctx.actor;
    const scope = { secret_key: ctx.secret_key, list: 'domains', workspace_id, filters: { status } };
    const rows = await readDomainPage(ctx.sql, workspace_id, status ?? null, readCursor(scope, cursor), limit + 1);
    const keys = await publicKeysOf(
      ctx.sql,
      rows.map((row) => row.id),
    );
    const byDomain = Map.groupBy(keys, (key) => key.domain_id);
    return pageOf(scope, rows, limit, (row) => domainEntry(row, byDomain.get(row.id) ?? [], ctx));
  },
});
