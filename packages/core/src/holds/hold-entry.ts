import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import { INSTANCE, isOperator } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { MAX_AFFECTED } from './affected-store.ts';
import { holdScopes } from './scope.ts';
import { type HoldRow, NEVER } from './store.ts';

export const holdSchema = z
  .object({
    object: objectName('hold'),
    id: idField(idPrefixes.hold),
    scope: z.enum(holdScopes),
    value: z
      .string()
      .meta({ description: 'The target: a queue name, a domain name or an ID; "all" for the instance.' }),
    workspace_id: idField(idPrefixes.workspace).nullable().meta({ description: 'null: applies to all workspaces.' }),
    reason: z.string(),
    status: z.enum(['active', 'resuming', 'ended']).meta({
      description: 'resuming: released, and the backlog is sent at resume_rate_per_minute.',
    }),
    created_by: z.object({ kind: z.enum(['key', 'user', 'system']), id: z.string(), name: z.string() }).meta({
      description: 'Non-operators see an operator as kind system with ID operator.',
    }),
    created_at: timeField,
    expires_at: timeField.nullable().meta({ description: 'null: it lasts until it is released.' }),
    ended_at: timeField.nullable(),
    ended_by: z.enum(['release', 'expiry']).nullable(),
    resume_rate_per_minute: z.int().nullable(),
    affected: z.int().meta({ description: `Number of held items, counted up to ${MAX_AFFECTED}.` }),
  })
  .meta({ id: 'Hold' });
export type HoldEntry = z.output<typeof holdSchema>;

/** Returns when a hold expires; null if it lasts until it is released. */
export function holdEnd(expires_at: Date): string | null {
  return expires_at < NEVER ? isoTime(expires_at) : null;
}

// A workspace sees that an operator holds its email, but not which operator.
const OPERATOR_NAME = { kind: 'system', id: 'operator', name: 'An operator' } as const;

export function holdEntry(ctx: ActorContext, row: HoldRow, affected: number): HoldEntry {
  return {
    object: 'hold',
    id: row.id,
    scope: row.scope,
    value: row.value,
    workspace_id: row.workspace_id === INSTANCE ? null : row.workspace_id,
    reason: row.reason,
    status: row.active ? 'active' : row.resuming ? 'resuming' : 'ended',
    created_by:
      row.by_operator && !isOperator(ctx.actor)
        ? OPERATOR_NAME
        : { kind: row.created_by_kind, id: row.created_by_id, name: row.created_by_name },
    created_at: isoTime(row.created_at),
    expires_at: holdEnd(row.expires_at),
    ended_at: row.ended_at && isoTime(row.ended_at),
    ended_by: row.ended_by,
    resume_rate_per_minute: row.resume_rate_per_minute,
    affected,
  };
}

export function holdNotFound(id: string): AppError {
  return new AppError('hold_not_found', `No hold with ID ${id.slice(0, 64)}.`);
}
