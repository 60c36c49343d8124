import { z } from 'zod';
import { type List, pageFields, pageOf, readCursor } from '../list.ts';
import { operation } from '../operation.ts';
import { INSTANCE } from '../reach.ts';
import { listOf } from '../wire.ts';
import { type OperatorEntry, operatorEntry, operatorSchema } from './operator-entry.ts';
import { pageOfOperators } from './store.ts';

export const listOperators = operation({
  name: 'operators.list',
  scope: 'operator',
  summary: 'List the operators of the instance, newest people first',
  input: z.object(pageFields),
  output: listOf(operatorSchema),
  async run(ctx, { limit, cursor }): Promise<List<OperatorEntry>> {
    const scope = { secret_key: ctx.secret_key, list: 'operators', workspace_id: INSTANCE, filters: {} };
    const rows = await pageOfOperators(ctx.sql, readCursor(scope, cursor), limit + 1);
    return pageOf(scope, rows, limit, operatorEntry);
  },
});
