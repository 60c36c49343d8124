import { z } from 'zod';
import { ownAccess } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { alarmEntry, alarmSchema } from './alarm-entry.ts';
import { alarmsByIds } from './store.ts';

const MAX_IDS = 1000;

/** Returns alerts by ID, in the order requested; null for those not found. */
export const readAlarms = operation({
  name: 'alarms.read_many',
  scope: null,
  summary: 'Alerts by ID',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(alarmSchema.nullable()).readonly(),
  async run(ctx, { ids }) {
    const owners = ownAccess(ctx.actor);
    const rows = (await alarmsByIds(ctx.sql, ids)).filter(({ workspace_id }) => owners.includes(workspace_id));
    const by_id = new Map(rows.map((row) => [row.id, alarmEntry(row)]));
    return ids.map((id) => by_id.get(id) ?? null);
  },
});
