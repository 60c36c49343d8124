import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import { INSTANCE } from '../operation/access.ts';
import type { Actor } from '../operation/context.ts';
import { bulkActions } from './command.ts';
import { type BulkRow, bulkStatuses } from './store.ts';

export const bulkSchema = z
  .object({
    object: objectName('bulk_operation'),
    id: idField(idPrefixes.bulk),
    workspace_id: idField(idPrefixes.workspace).nullable().meta({ description: 'null for the instance.' }),
    action: z.enum(bulkActions),
    filter: z.record(z.string(), z.unknown()).readonly(),
    status: z.enum(bulkStatuses),
    matched: z.int().meta({ description: 'Count found by the preview.' }),
    matched_exact: z.boolean().meta({ description: 'Whether the preview counted to the end.' }),
    done: z.int(),
    failed: z.int(),
    skipped: z.int(),
    truncated: z.boolean().meta({ description: 'Whether it stopped at its limit although more matched.' }),
    reason: z.string(),
    rate_per_second: z.int(),
    created_by: z.object({ kind: z.enum(['key', 'user', 'system']), id: z.string(), name: z.string() }),
    cutoff_at: timeField.meta({ description: 'Items created at or after this time are not affected.' }),
    created_at: timeField,
    started_at: timeField.nullable(),
    finished_at: timeField.nullable(),
  })
  .meta({ id: 'BulkOperation' });
export type BulkEntry = z.output<typeof bulkSchema>;

export function bulkEntry(row: BulkRow): BulkEntry {
  return {
    object: 'bulk_operation',
    id: row.id,
    workspace_id: row.workspace_id === INSTANCE ? null : row.workspace_id,
    action: row.action,
    // The cast is safe because the filter is stored with JSON.stringify of an object.
    filter: JSON.parse(row.filter) as Record<string, unknown>,
    status: row.status,
    matched: row.matched,
    matched_exact: row.matched_exact,
    done: row.done,
    failed: row.failed,
    skipped: row.skipped,
    truncated: row.truncated,
    reason: row.reason,
    rate_per_second: row.rate_per_second,
    created_by: { ...idOf(actorOf(row)), name: row.actor_name },
    cutoff_at: isoTime(row.cutoff_at),
    created_at: isoTime(row.created_at),
    started_at: row.started_at && isoTime(row.started_at),
    finished_at: row.finished_at && isoTime(row.finished_at),
  };
}

export function actorOf(row: Pick<BulkRow, 'actor'>): Actor {
  // The cast is safe because the actor is stored with JSON.stringify of an Actor.
  return JSON.parse(row.actor) as Actor;
}

export function idOf(actor: Actor): { readonly kind: Actor['kind']; readonly id: string } {
  switch (actor.kind) {
    case 'key':
      return { kind: 'key', id: actor.key_id };
    case 'user':
      return { kind: 'user', id: actor.user_id };
    case 'system':
      return { kind: 'system', id: 'system' };
  }
}
