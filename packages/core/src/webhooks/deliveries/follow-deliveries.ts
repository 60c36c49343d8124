import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { idPrefixes } from '../../fields/ids.ts';
import { idField } from '../../fields/wire.ts';
import type { ActorContext } from '../../operation/context.ts';
import { invoke, operation } from '../../operation/operation.ts';
import { type CursorScope, readCursor, writeCursor } from '../../paging/list.ts';
import type { WebhookDeliveryEntry } from './delivery-entry.ts';
import { listAllDeliveries } from './list-deliveries.ts';

const POLL_MS = 1000;
/** Changes of older deliveries are not streamed; the list of their webhook shows them. */
const NEWEST = 100;

export interface FollowedDelivery {
  readonly node: WebhookDeliveryEntry;
  /** Cursor to resume from. */
  readonly cursor: string;
}

/**
 * Streams the newest deliveries of a workspace, or of one webhook, as they are created, posted and finished; null as a
 * keep-alive. The cursor holds the time of the last change; after a reconnect, changes since then are sent, each at
 * most once too often.
 */
export const followDeliveries = operation({
  name: 'webhooks.follow_deliveries',
  scope: 'webhooks:manage',
  sandbox: true,
  summary: 'Follow webhook deliveries as they are posted',
  input: z.object({ webhook_id: idField(idPrefixes.webhook).optional(), after: z.string().optional() }),
  output: z.custom<AsyncGenerator<FollowedDelivery | null>>(),
  async run(ctx, { webhook_id, after }) {
    const { workspace_id } = ctx.actor;
    const scope = {
      secret_key: ctx.secret_key,
      list: 'webhooks.follow_deliveries',
      workspace_id,
      filters: { webhook_id },
    };
    const position = readCursor(scope, after);
    const newest = () => newestDeliveries(ctx, webhook_id);
    const known = new Map<string, string>();
    for (const entry of await newest())
      if (position === null || changedAt(entry) < position) known.set(entry.id, stateOf(entry));
    return follow(newest, scope, known);
  },
});

async function newestDeliveries(ctx: ActorContext, webhook_id: string | undefined) {
  const filter = webhook_id === undefined ? {} : { webhook_id };
  return (await invoke(ctx, listAllDeliveries, { ...filter, limit: NEWEST })).data;
}

async function* follow(
  newest: () => Promise<readonly WebhookDeliveryEntry[]>,
  scope: CursorScope,
  begun: Map<string, string>,
): AsyncGenerator<FollowedDelivery | null> {
  let known = begun;
  for (;;) {
    const entries = await newest();
    const news = entries.filter((entry) => known.get(entry.id) !== stateOf(entry));
    known = new Map(entries.map((entry) => [entry.id, stateOf(entry)]));
    for (const node of news.toSorted((left, right) => (changedAt(left) < changedAt(right) ? -1 : 1)))
      yield { node, cursor: writeCursor(scope, changedAt(node)) };
    yield null;
    await pause(POLL_MS);
  }
}

function changedAt({ created_at, last_attempt_at, finished_at }: WebhookDeliveryEntry): string {
  return [created_at, last_attempt_at ?? '', finished_at ?? ''].toSorted().at(-1) ?? created_at;
}

function stateOf({ status, attempts, last_attempt_at }: WebhookDeliveryEntry): string {
  return `${status} ${attempts} ${last_attempt_at}`;
}
