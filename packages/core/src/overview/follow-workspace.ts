import { z } from 'zod';
import { type AuditAction, auditBehind, auditHead } from '../audit/index.ts';
import { type EventType, type FollowedEvent, followEvents } from '../events/index.ts';
import { INSTANCE, isOperator } from '../operation/access.ts';
import type { Actor, ActorContext } from '../operation/context.ts';
import { invoke, operation } from '../operation/operation.ts';
import { scopeRefusal } from '../operation/scope-refusal.ts';
import type { Scope } from '../operation/scopes.ts';

const AUDIT_STEP = 100;

export interface Change {
  /** The type of an event or the action of an audit entry, such as email.delivered or hold.released. */
  readonly type: AuditAction | EventType;
  /** The email of an event, or the target of an action. */
  readonly id: string | null;
}

type FirstWord<T> = T extends `${infer Word}.${string}` ? Word : never;

/** The scope required to list the targets of an action, and therefore also to follow changes to them. */
const scopeOf: Record<FirstWord<AuditAction>, Scope> = {
  alarm: 'admin',
  api_key: 'admin',
  bulk: 'admin',
  delivery: 'webhooks:manage',
  destination: 'operator',
  domain: 'domains:read',
  erasure: 'admin',
  hold: 'admin',
  invitation: 'admin',
  job: 'operator',
  // Every member may list the others.
  member: 'email:logs:read',
  message: 'email:logs:read',
  operator: 'operator',
  plan: 'operator',
  queue: 'operator',
  restore: 'operator',
  schedule: 'operator',
  sign_in_policy: 'admin',
  suppression: 'email:logs:read',
  transport: 'admin',
  user: 'admin',
  webhook: 'webhooks:manage',
  workspace: 'admin',
};

/**
 * Streams changes in a workspace, and for operators in the instance, as they are committed; yields null as a
 * keep-alive. An audit entry yields only its action and target, and only to those who may read the target.
 */
export const followWorkspace = operation({
  name: 'workspaces.follow',
  scope: 'email:logs:read',
  summary: 'Follow changes in a workspace',
  input: z.object({}),
  output: z.custom<AsyncGenerator<Change | null>>(),
  async run(ctx) {
    const chains = [ctx.actor.workspace_id, ...(isOperator(ctx.actor) ? [INSTANCE] : [])];
    const tails = await Promise.all(chains.map((chain) => tailOf(ctx, chain)));
    return follow(await invoke(ctx, followEvents, {}), tails);
  },
});

/** Yields events and changes in the audit log, which is read at the poll interval of the events. */
async function* follow(
  events: AsyncGenerator<FollowedEvent | null>,
  tails: readonly (() => Promise<Change[]>)[],
): AsyncGenerator<Change | null> {
  for await (const event of events) {
    if (event !== null) {
      // The cast is safe because the type of every event is in the catalog.
      yield { type: event.node.type as EventType, id: event.node.email_id };
      continue;
    }
    for (const tail of tails) yield* await tail();
    yield null;
  }
}

/** Returns a function that reads the entries of a chain committed since the last call. */
async function tailOf({ sql, actor }: ActorContext, chain: string): Promise<() => Promise<Change[]>> {
  let { sequence } = await auditHead(sql, chain);
  return async () => {
    const rows = await auditBehind(sql, chain, sequence, AUDIT_STEP);
    sequence = rows.at(-1)?.sequence ?? sequence;
    return rows
      .filter(({ action }) => mayRead(actor, action))
      .map(({ action, target_id }) => ({ type: action, id: target_id }));
  };
}

function mayRead(actor: Actor, action: AuditAction): boolean {
  // Every action starts with its target.
  const scope = scopeOf[action.slice(0, action.indexOf('.')) as FirstWord<AuditAction>];
  return isOperator(actor) || scopeRefusal(actor, scope) === null;
}
