import { z } from 'zod';
import { ownAccess } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { type AuditEntry, auditEntry, auditEntrySchema } from './audit-entry.ts';
import { auditByIds } from './store.ts';

const MAX_IDS = 1000;

/** Returns entries by id, in the order given; null for those the caller may not read. */
export const readAuditEntries = operation({
  name: 'audit.read_many',
  scope: null,
  summary: 'Audit log entries by ID',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(auditEntrySchema.nullable()).readonly(),
  async run({ sql, actor }, { ids }): Promise<readonly (AuditEntry | null)[]> {
    const rows = new Map((await auditByIds(sql, ownAccess(actor), ids)).map((row) => [row.id, row]));
    return ids.map((id) => {
      const row = rows.get(id);
      return row ? auditEntry(row) : null;
    });
  },
});
