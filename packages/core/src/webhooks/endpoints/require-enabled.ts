import { accessibleMode } from '../../operation/access.ts';
import type { ActorContext } from '../../operation/context.ts';
import { AppError } from '../../operation/errors.ts';
import { type WebhookRow, webhookById } from './store.ts';
import { webhookNotFound } from './webhook-entry.ts';

export async function requireEnabled(ctx: ActorContext, id: string): Promise<WebhookRow> {
  const row = await webhookById(ctx.sql, ctx.actor.workspace_id, accessibleMode(ctx.actor), id);
  if (!row) throw webhookNotFound(id);
  if (row.status === 'enabled') return row;
  throw new AppError('webhook_disabled', `${id} is disabled. Enable it first with PATCH /v1/webhooks/${id}.`);
}
