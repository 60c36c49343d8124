import { z } from 'zod';
import {
  type AccessScope,
  accessibleSide,
  accessScopes,
  INSTANCE,
  isOperator,
  mayAccess,
  requireAdministrator,
} from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import type { TransportRow } from './store.ts';
import { transportNotFound } from './transport.ts';

export const reachField = z.enum(accessScopes).optional().meta({
  description:
    "instance: the instance's transports; needs operator and is what an operator gets. workspace: the workspace's own; needs admin and is what an admin gets.",
});

/** Returns the workspace whose transports an operation concerns; null: those of the instance. */
export function ownerOf(ctx: Pick<ActorContext, 'actor'>, reach: AccessScope | undefined): string | null {
  const side = accessibleSide(ctx, reach ?? (isOperator(ctx.actor) ? 'instance' : 'workspace'));
  return side === INSTANCE ? null : side;
}

/** Returns the row if the actor administers it; otherwise it appears not to exist. */
export function requireOwn({ actor }: Pick<ActorContext, 'actor'>, id: string, row: TransportRow | null): TransportRow {
  requireAdministrator(actor);
  if (!row || !(row.workspace_id === null ? isOperator(actor) : mayAccess(actor, row.workspace_id)))
    throw transportNotFound(id);
  return row;
}
