import type { ActorContext } from '../context.ts';
import { AppError } from '../errors.ts';
import { modeInReach } from '../reach.ts';
import { webhookById } from './store.ts';
import { webhookNotFound } from './webhook-entry.ts';

export async function requireEnabled(ctx: ActorContext, id: string): Promise<void> {
  const row = await webhookById(ctx.sql, ctx.actor.workspace_id, modeInReach(ctx.actor), id);
  if (!row) throw webhookNotFound(id);
  if (row.status === 'enabled') return;
  throw new AppError('webhook_disabled', `${id} is disabled; enable it first with PATCH /webhooks/${id}.`);
}
