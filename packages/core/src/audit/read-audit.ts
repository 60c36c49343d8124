import { z } from 'zod';
import { operation, scopeRefusal } from '../operation.ts';
import { type AuditEntry, auditEntry, auditEntrySchema } from './audit-entry.ts';
import { INSTANCE } from './record.ts';
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
    const refusal = scopeRefusal(actor, 'admin');
    const chains = [...(refusal ? [] : [actor.workspace_id]), ...(scopeRefusal(actor, 'operator') ? [] : [INSTANCE])];
    if (refusal && chains.length === 0) throw refusal;
    const rows = new Map((await auditByIds(sql, chains, ids)).map((row) => [row.id, row]));
    return ids.map((id) => {
      const row = rows.get(id);
      return row ? auditEntry(row) : null;
    });
  },
});
