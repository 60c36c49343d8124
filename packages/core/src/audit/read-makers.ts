import { z } from 'zod';
import { operation } from '../operation/operation.ts';
import { type AuditEntry, actorField, actorOf } from './audit-entry.ts';
import { makersOf } from './store.ts';

const MAX_IDS = 1000;
/** Returned if the log names no creator, as for the key created on first start. */
const SYSTEM: AuditEntry['actor'] = { kind: 'system', id: 'system', name: 'Postrider' };

/** Returns the creators of keys in the actor's workspace, in the order given. An operator's key may look up itself. */
export const readMakers = operation({
  name: 'audit.makers',
  scope: null,
  summary: 'API key creators by ID',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output: z.array(actorField).readonly(),
  async run(ctx, { ids }): Promise<readonly AuditEntry['actor'][]> {
    const rows = await makersOf(ctx.sql, ctx.actor.workspace_id, ['api_key.created', 'api_key.rotated'], ids);
    const makers = new Map(rows.map((row) => [row.target_id, actorOf(row)]));
    return ids.map((id) => makers.get(id) ?? SYSTEM);
  },
});
