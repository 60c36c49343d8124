import { canonicalDomain } from '@postrider/mail';
import { destinationNamed } from '../lanes/index.ts';
import { INSTANCE, isOperator, requireAdministrator } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { AppError, type Reason } from '../operation/errors.ts';
import { existingWorkspace } from '../workspaces/index.ts';
import { heldQueues } from './held-queues.ts';
import { EVERYTHING, type HoldScope } from './scope.ts';
import { ownerOf } from './store.ts';

/** The held target in normalized form, with the id of its workspace; the id is empty for the instance. */
export interface HeldThing {
  readonly scope: HoldScope;
  readonly value: string;
  readonly workspace_id: string;
}

interface HoldTarget {
  readonly scope: HoldScope;
  readonly value: string;
  readonly workspace_id?: string | undefined;
}

const absent: Readonly<Record<'sender_domain' | 'api_key' | 'webhook', readonly [Reason, string]>> = {
  sender_domain: ['domain_not_found', 'domain'],
  api_key: ['api_key_not_found', 'API key'],
  webhook: ['webhook_not_found', 'webhook'],
};

/** Looks up the given target after checking that the caller may hold it. */
export async function heldThing(ctx: ActorContext, { scope, value, workspace_id }: HoldTarget): Promise<HeldThing> {
  switch (scope) {
    case 'instance':
      requireAdministrator(ctx.actor, 'instance');
      if (value !== EVERYTHING)
        throw new AppError('invalid_type', `Instance holds apply to ${EVERYTHING}. Set value to ${EVERYTHING}.`);
      return { scope, value, workspace_id: INSTANCE };
    case 'queue':
      requireAdministrator(ctx.actor, 'instance');
      return { scope, value: queueNamed(value), workspace_id: INSTANCE };
    case 'destination':
      requireAdministrator(ctx.actor, 'instance');
      return { scope, value: destinationNamed(value), workspace_id: INSTANCE };
    default: {
      requireAdministrator(ctx.actor);
      const workspace_name = workspace_id === undefined ? null : await existingWorkspace(ctx, workspace_id);
      const name = scope === 'sender_domain' ? (canonicalDomain(value) ?? value) : value;
      // Ids are unique across all workspaces, but the same domain may belong to several workspaces.
      const workspace_filter = isOperator(ctx.actor) && scope !== 'sender_domain' ? null : ctx.actor.workspace_id;
      const owner = await ownerOf(ctx.sql, scope, name, workspace_name ?? workspace_filter);
      if (owner !== null) return { scope, value: name, workspace_id: owner };
      const [reason, word] = absent[scope];
      throw new AppError(reason, `No ${word} ${value.slice(0, 255)} exists in this workspace.`);
    }
  }
}

function queueNamed(value: string): string {
  const queue = heldQueues.find((name) => name === value);
  if (queue) return queue;
  throw new AppError('queue_not_found', `No queue named ${value.slice(0, 64)}. Queues: ${heldQueues.join(', ')}.`);
}
