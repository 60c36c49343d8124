import type { Tx } from '@postrider/db';
import type { ActorContext } from '../context.ts';
import { newId } from '../ids.ts';
import type { AuditAction } from './actions.ts';
import { type AuditDraft, appendAudit } from './store.ts';

export interface AuditFact {
  readonly action: AuditAction;
  /** What it was done to: an id, or a name where there is none. */
  readonly target_id: string;
  /** What changed. Never a secret, never a body. */
  readonly diff?: Readonly<Record<string, unknown>>;
  /** What the caller gave as the reason. */
  readonly reason?: string | null;
  /** Whose chain it stands in; the actor's workspace where none is named. */
  readonly workspace_id?: string;
}

/** Tells the audit log, in the commit of what it tells. The last statement of its transaction: it locks the chain. */
export async function recordAudit(tx: Tx, ctx: ActorContext, facts: readonly AuditFact[]): Promise<void> {
  if (facts.length > 0) await appendAudit(tx, draftAudit(ctx, facts));
}

/** The entries, for who stores them within a larger statement. */
export function draftAudit(ctx: ActorContext, facts: readonly AuditFact[]): readonly AuditDraft[] {
  const now_ms = ctx.clock.now();
  const { actor, face, address, request_id } = ctx;
  return facts.map((fact) => ({
    workspace_id: fact.workspace_id ?? actor.workspace_id,
    id: newId('audit', now_ms),
    ...whoIs(actor),
    face,
    action: fact.action,
    target_id: fact.target_id,
    diff: fact.diff === undefined ? null : JSON.stringify(fact.diff),
    reason: fact.reason ?? null,
    address,
    request_id,
  }));
}

/** What differs, each with its value before and after; undefined where nothing does. */
export function changesOf<T extends object>(
  before: T,
  after: T,
  names: readonly (keyof T & string)[],
): Readonly<Record<string, readonly [unknown, unknown]>> | undefined {
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map((name) => [name, [before[name] ?? null, after[name] ?? null] as const]));
}

function whoIs(actor: ActorContext['actor']): { actor_kind: string; actor_id: string; actor_name: string } {
  switch (actor.kind) {
    case 'key':
      // Its name is looked up where the entry is stored.
      return { actor_kind: 'key', actor_id: actor.key_id, actor_name: '' };
    case 'user':
      return { actor_kind: 'user', actor_id: actor.user_id, actor_name: actor.email };
    case 'system':
      return { actor_kind: 'system', actor_id: 'system', actor_name: 'Postrider' };
  }
}
