import type { Tx } from '@postrider/db';
import { mayAccess } from '../operation/access.ts';
import type { Actor } from '../operation/context.ts';
import { scopesOf } from '../people/index.ts';
import { actorOf } from './bulk-entry.ts';
import { type BulkRow, heldKey, heldPerson } from './store.ts';

/**
 * Returns the actor who started an operation, with current permissions locked until the commit; null if they no longer
 * suffice.
 */
export async function presentActor(tx: Tx, bulk: Pick<BulkRow, 'actor' | 'workspace_id'>): Promise<Actor | null> {
  const actor = await presentOf(tx, actorOf(bulk));
  return actor && mayAccess(actor, bulk.workspace_id) ? actor : null;
}

async function presentOf(tx: Tx, actor: Actor): Promise<Actor | null> {
  if (actor.kind === 'system') return actor;
  if (actor.kind === 'key') {
    const key = await heldKey(tx, actor.workspace_id, actor.key_id);
    return key && { ...actor, ...key };
  }
  const person = await heldPerson(tx, actor.workspace_id, actor.user_id);
  return person && { ...actor, scopes: scopesOf(person) };
}
