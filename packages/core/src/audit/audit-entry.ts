import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import { viaNames } from '../operation/context.ts';
import type { AuditRow } from './store.ts';

export const actorKinds = ['key', 'user', 'system'] as const;

export const actorField = z.object({
  kind: z.enum(actorKinds),
  id: z.string(),
  name: z.string().meta({ description: 'The key name or email address at that time.' }),
});

export const auditEntrySchema = z
  .object({
    object: objectName('audit_entry'),
    id: idField(idPrefixes.audit),
    sequence: z.int().meta({ description: 'Position in its chain, from 1 and without gaps.' }),
    at: timeField,
    actor: actorField,
    via: z.enum(viaNames).meta({ description: 'The API that the action came in through.' }),
    action: z.string().meta({ examples: ['api_key.revoked'] }),
    target_id: z.string().meta({ description: 'The target ID, or its name if it has no ID.' }),
    diff: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: 'The changes; for a field that had a value: [before, after].' }),
    reason: z.string().nullable(),
    address: z.string().nullable().meta({ description: 'Client IP address.' }),
    request_id: idField(idPrefixes.request),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.output<typeof auditEntrySchema>;

export function auditEntry(row: AuditRow): AuditEntry {
  const { id, sequence, via, action, target_id, reason, address, request_id } = row;
  return auditEntrySchema.parse({
    object: 'audit_entry',
    id,
    sequence,
    at: isoTime(row.at),
    actor: actorOf(row),
    via,
    action,
    target_id,
    diff: row.diff === null ? null : JSON.parse(row.diff),
    reason,
    address,
    request_id,
  });
}

export function actorOf(row: Pick<AuditRow, 'actor_kind' | 'actor_id' | 'actor_name'>): AuditEntry['actor'] {
  return actorField.parse({ kind: row.actor_kind, id: row.actor_id, name: row.actor_name });
}
