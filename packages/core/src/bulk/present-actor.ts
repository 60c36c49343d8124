import type { Tx } from '@postrider/db';
import type { Actor } from '../context.ts';
import { scopesOf } from '../people/index.ts';
import { mayReach } from '../reach.ts';
import { actorOf } from './bulk-entry.ts';
import { type BulkRow, heldKey, heldPerson } from './store.ts';

/**
 * Who started an operation, with what they may do now, which stays so until the commit; null where they may not do this
 * any more.
 */
export async function presentActor(tx: Tx, bulk: Pick<BulkRow, 'actor' | 'workspace_id'>): Promise<Actor | null> {
  const actor = await presentOf(tx, actorOf(bulk));
  return actor && mayReach(actor, bulk.workspace_id) ? actor : null;
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
