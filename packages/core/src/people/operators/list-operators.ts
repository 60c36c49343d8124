import { z } from 'zod';
import { listOf } from '../../fields/wire.ts';
import { INSTANCE } from '../../operation/access.ts';
import { operation } from '../../operation/operation.ts';
import { type List, pageFields, pageOf, readCursor } from '../../paging/list.ts';
import { readOperatorPage } from '../store.ts';
import { type OperatorEntry, operatorEntry, operatorSchema } from './operator-entry.ts';

export const listOperators = operation({
  name: 'operators.list',
  scope: 'operator',
  summary: 'List operators, newest first',
  input: z.object(pageFields),
  output: listOf(operatorSchema),
  async run(ctx, { limit, cursor }): Promise<List<OperatorEntry>> {
    const scope = { secret_key: ctx.secret_key, list: 'operators', workspace_id: INSTANCE, filters: {} };
    const rows = await readOperatorPage(ctx.sql, readCursor(scope, cursor), limit + 1);
    return pageOf(scope, rows, limit, operatorEntry);
  },
});
