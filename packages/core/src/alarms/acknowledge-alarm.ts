import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { ownAccess } from '../operation/access.ts';
import type { Actor } from '../operation/context.ts';
import { operation } from '../operation/operation.ts';
import { type AlarmEntry, alarmEntry, alarmNotFound, alarmSchema } from './alarm-entry.ts';
import { acknowledgeRow, alarmsByIds } from './store.ts';

/** Stops the daily reminders of an alarm; its end is still reported. Idempotent. */
export const acknowledgeAlarm = operation({
  name: 'alarms.acknowledge',
  scope: null,
  summary: 'Acknowledge an alert to stop its reminders',
  input: z.object({
    alarm_id: idField(idPrefixes.alarm),
    reason: z.string().trim().min(1).max(1000).optional(),
  }),
  output: alarmSchema,
  async run(ctx, { alarm_id, reason }): Promise<AlarmEntry> {
    const owners = ownAccess(ctx.actor);
    const [alarm] = await alarmsByIds(ctx.sql, [alarm_id]);
    if (!alarm || !owners.includes(alarm.workspace_id)) throw alarmNotFound(alarm_id);
    const row = await ctx.sql.begin(async (tx) => {
      const acknowledged = await acknowledgeRow(tx, alarm_id, actorName(ctx.actor));
      const { rule, subject, workspace_id } = alarm;
      const fact = { target_id: alarm_id, diff: { rule, subject }, reason: reason ?? null, workspace_id };
      if (acknowledged) await recordAudit(tx, ctx, [{ action: 'alarm.acknowledged', ...fact }]);
      return acknowledged;
    });
    const [now] = row ? [row] : await alarmsByIds(ctx.sql, [alarm_id]);
    if (!now) throw alarmNotFound(alarm_id);
    return alarmEntry(now);
  },
});

function actorName(actor: Actor): string {
  switch (actor.kind) {
    case 'key':
      return actor.key_id;
    case 'user':
      return actor.email;
    case 'system':
      return 'Postrider';
  }
}
