import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import { INSTANCE } from '../operation/access.ts';
import { AppError } from '../operation/errors.ts';
import { dashboardPath } from './dashboard-path.ts';
import { titleOf } from './rules.ts';
import type { AlarmRow } from './store.ts';

export const alarmStatuses = ['active', 'ended'] as const;

export const alarmSchema = z
  .object({
    object: objectName('alarm'),
    id: idField(idPrefixes.alarm),
    workspace_id: idField(idPrefixes.workspace).nullable().meta({ description: 'null for an instance alert.' }),
    rule: z.string().meta({ examples: ['queue_waits'] }),
    title: z.string(),
    subject: z.string().nullable().meta({ description: 'The subject, such as a queue or a domain.' }),
    status: z.enum(alarmStatuses),
    detail: z.string(),
    page: z.string().meta({ description: 'Path of the dashboard page that shows the problem.' }),
    started_at: timeField,
    ended_at: timeField.nullable(),
    acknowledged_at: timeField.nullable(),
    acknowledged_by: z.string().nullable(),
    notice_dropped_at: timeField
      .nullable()
      .meta({ description: 'When a notification last expired without being delivered.' }),
  })
  .meta({ id: 'Alarm' });
export type AlarmEntry = z.output<typeof alarmSchema>;

export function alarmEntry(row: AlarmRow): AlarmEntry {
  return {
    object: 'alarm',
    id: row.id,
    workspace_id: row.workspace_id === INSTANCE ? null : row.workspace_id,
    rule: row.rule,
    title: titleOf(row.rule),
    subject: row.subject === '' ? null : row.subject,
    status: row.status,
    detail: row.detail,
    page: dashboardPath(row.workspace_id, row.page),
    started_at: isoTime(row.started_at),
    ended_at: row.ended_at && isoTime(row.ended_at),
    acknowledged_at: row.acknowledged_at && isoTime(row.acknowledged_at),
    acknowledged_by: row.acknowledged_by,
    notice_dropped_at: row.notice_dropped_at && isoTime(row.notice_dropped_at),
  };
}

export function alarmNotFound(id: string): AppError {
  return new AppError('alarm_not_found', `No alert with ID ${id.slice(0, 64)}.`);
}
