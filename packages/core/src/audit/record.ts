import type { Tx } from '@postrider/db';
import { newId } from '../fields/ids.ts';
import type { ActorContext } from '../operation/context.ts';
import type { AuditAction } from './actions.ts';
import { type AuditDraft, appendAudit } from './store.ts';

/** A reason is free text and may contain an address, and so may a diff. */
const ADDRESS = /[^\s<>"',;:]+@([^\s<>"',;]+)/g;
const withoutAddresses = (text: string) => text.replace(ADDRESS, '…@$1');

export interface AuditFact {
  readonly action: AuditAction;
  /** The target ID, or its name if it has no ID. */
  readonly target_id: string;
  /** Never a secret or a body: the chain cannot be erased. For an address, only the domain is stored. */
  readonly diff?: Readonly<Record<string, unknown>>;
  readonly reason?: string | null;
  /** Defaults to the actor's workspace. */
  readonly workspace_id?: string;
}

/** Appends to the audit log in the transaction of the change. Must be the last statement: it locks the chain. */
export async function recordAudit(tx: Tx, ctx: ActorContext, facts: readonly AuditFact[]): Promise<void> {
  if (facts.length > 0) await appendAudit(tx, draftAudit(ctx, facts));
}

/** Drafts entries to be stored as part of a larger statement. */
export function draftAudit(ctx: ActorContext, facts: readonly AuditFact[]): readonly AuditDraft[] {
  const now_ms = ctx.clock.now();
  const { actor, via, address, request_id } = ctx;
  return facts.map((fact) => ({
    workspace_id: fact.workspace_id ?? actor.workspace_id,
    id: newId('audit', now_ms),
    ...actorColumns(actor),
    via,
    action: fact.action,
    target_id: fact.target_id,
    diff: fact.diff === undefined ? null : withoutAddresses(JSON.stringify(fact.diff)),
    reason: fact.reason == null ? null : withoutAddresses(fact.reason),
    address,
    request_id,
  }));
}

/** Returns changed fields as [before, after]; undefined if nothing changed. */
export function changesOf<T extends object>(
  before: T,
  after: T,
  names: readonly (keyof T & string)[],
): Readonly<Record<string, readonly [unknown, unknown]>> | undefined {
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map((name) => [name, [before[name] ?? null, after[name] ?? null] as const]));
}

function actorColumns(actor: ActorContext['actor']): { actor_kind: string; actor_id: string; actor_name: string } {
  switch (actor.kind) {
    case 'key':
      // The name is looked up when the entry is stored.
      return { actor_kind: 'key', actor_id: actor.key_id, actor_name: '' };
    case 'user':
      return { actor_kind: 'user', actor_id: actor.user_id, actor_name: actor.email };
    case 'system':
      return { actor_kind: 'system', actor_id: 'system', actor_name: 'Postrider' };
  }
}
