import { type AuditFact, recordAudit } from '../audit/index.ts';
import { createContext } from '../create-context.ts';
import { INSTANCE } from '../operation/access.ts';
import type { ActorContext, Services } from '../operation/context.ts';
import { endExpired, type HoldRow } from './store.ts';

export function expiryFacts(holds: readonly HoldRow[]): AuditFact[] {
  return holds.map((row) => ({
    action: 'hold.expired',
    target_id: row.id,
    diff: { scope: row.scope, value: row.value },
    workspace_id: row.workspace_id,
  }));
}

/**
 * Records the end of expired holds and returns their number. A hold has no effect after its expiry, even before its end
 * is recorded.
 */
export async function endExpiredHolds(services: Services): Promise<number> {
  return services.sql.begin(async (tx) => {
    const expired = await endExpired(tx);
    // A context for the service itself, which acts in no workspace here.
    const ctx = createContext(services, { kind: 'system', workspace_id: INSTANCE }) as ActorContext;
    await recordAudit(tx, ctx, expiryFacts(expired));
    return expired.length;
  });
}
