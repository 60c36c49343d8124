import { z } from 'zod';
import { AppError } from '../errors.ts';
import { idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { idField } from '../wire.ts';
import { type AuditEntry, auditEntry, auditEntrySchema } from './audit-entry.ts';
import { chainField, chainOf } from './chain.ts';
import { auditById } from './store.ts';

export const getAuditEntry = operation({
  name: 'audit.get',
  scope: null,
  summary: 'One entry of the audit log',
  input: z.object({ id: idField(idPrefixes.audit), chain: chainField }),
  output: auditEntrySchema,
  async run(ctx, { id, chain }): Promise<AuditEntry> {
    const row = await auditById(ctx.sql, chainOf(ctx, chain), id);
    if (row) return auditEntry(row);
    throw new AppError('audit_entry_not_found', `No entry ${id.slice(0, 64)} stands in this audit log.`);
  },
});
