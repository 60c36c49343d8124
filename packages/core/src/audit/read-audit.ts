import { z } from 'zod';
import { operation } from '../operation.ts';
import { ownReach } from '../reach.ts';
import { type AuditEntry, auditEntry, auditEntrySchema } from './audit-entry.ts';
import { auditByIds } from './store.ts';

const MOST = 1000;

/** Some entries by id, in the order asked for; null for what stands in no log that the caller may read. */
export const readAuditEntries = operation({
  name: 'audit.read_many',
  scope: null,
  summary: 'Some entries of the audit log by id',
  input: z.object({ ids: z.array(z.string()).max(MOST) }),
  output: z.array(auditEntrySchema.nullable()).readonly(),
  async run({ sql, actor }, { ids }): Promise<readonly (AuditEntry | null)[]> {
    const rows = new Map((await auditByIds(sql, ownReach(actor), ids)).map((row) => [row.id, row]));
    return ids.map((id) => {
      const row = rows.get(id);
      return row ? auditEntry(row) : null;
    });
  },
});
