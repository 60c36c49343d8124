import { z } from 'zod';
import { listOf } from '../fields/wire.ts';
import { accessField, accessibleSide, ownAccess } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { type List, pageFields, pageOf, readCursor } from '../paging/list.ts';
import { type AlarmEntry, alarmEntry, alarmSchema } from './alarm-entry.ts';
import { readAlarmPage } from './store.ts';

/** Lists alarms, newest first: an admin sees those of the workspace, an operator those of the instance. */
export const listAlarms = operation({
  name: 'alarms.list',
  // Requires admin in the caller's own workspace, or operator for the instance; ownAccess decides.
  scope: null,
  summary: 'List alerts, newest first',
  input: z.object({
    ...pageFields,
    access: accessField.meta({
      description: 'Only those of the workspace or of the instance. Default: all that the caller may see.',
    }),
    active: z.boolean().default(true).meta({ description: 'false: also resolved ones.' }),
  }),
  output: listOf(alarmSchema),
  async run(ctx, { limit, cursor, access, active }): Promise<List<AlarmEntry>> {
    const owners = access === undefined ? ownAccess(ctx.actor) : [accessibleSide(ctx, access)];
    const scope = { secret_key: ctx.secret_key, list: 'alarms', workspace_id: owners.join(), filters: { active } };
    const rows = await readAlarmPage(ctx.sql, owners, active, readCursor(scope, cursor), limit + 1);
    return pageOf(scope, rows, limit, alarmEntry);
  },
});
