import { listOf, type Sql, type Tx } from '@postrider/db';
import type { IdRange } from '../../paging/candidate-pages.ts';
import { within } from '../../paging/keyset-store.ts';
import { keepDelivered } from './attempt-store.ts';
import { isDelivery } from './delivery-store.ts';
import type { WebhookDeliveryState } from './state.ts';

export interface DeliveryWalk {
  readonly webhook_id: string;
  readonly states: readonly WebhookDeliveryState[];
  readonly range: IdRange;
}

/**
 * Returns the next deliveries of an endpoint in the given states, newest event first. Served by
 * webhook_deliveries_newest.
 */
export async function deliveriesAmong(
  sql: Sql | Tx,
  { webhook_id, states, range }: DeliveryWalk,
  count: number,
  limit: number,
): Promise<{ readonly ids: readonly string[]; readonly examined: number; readonly edge: string | null }> {
  const [row] = await sql<{ ids: string[]; examined: number; edge: string | null }[]>`
    with candidates as materialized (
      select d.id, d.state from webhook_deliveries d
      where ${listOf(sql, sql`d.webhook_id`, webhook_id)} and ${within(sql, sql`d.id`, range)}
      order by d.id desc limit ${count}
    )
    select (select count(*)::int from candidates) as examined, (select min(id) from candidates) as edge,
      array(
        select c.id from candidates c where c.state = any (${[...states]}::text[]) order by c.id desc limit ${limit}
      ) as ids`;
  return row ?? { ids: [], examined: 0, edge: null };
}

/**
 * Restarts deliveries of an enabled endpoint that are in the given states and older than a given time; returns their
 * ids. Rows are locked in id order, as when results are recorded.
 */
export async function replayRows(
  tx: Tx,
  { workspace_id, webhook_id, states }: Pick<DeliveryWalk, 'webhook_id' | 'states'> & { readonly workspace_id: string },
  before: Date,
  ids: readonly string[],
): Promise<Set<string>> {
  await keepDelivered(tx, workspace_id, ids);
  const rows = await tx<{ id: string }[]>`
    with locked as materialized (
      select d.workspace_id, d.id from webhook_deliveries d
      where d.id = any (${ids.toSorted()}::uuid[]) and d.workspace_id = ${workspace_id} and d.webhook_id = ${webhook_id}
        and d.state = any (${[...states]}::text[]) and d.created_at < ${before}
        and exists (select from webhooks w where w.id = ${webhook_id} and w.status = 'enabled')
      order by d.id for update of d
    )
    update webhook_deliveries d set state = 'pending', attempt_count = 0, next_attempt_at = clock_now(),
      lease = null, lease_until = null, finished_at = null
    from locked l where ${isDelivery(tx, 'l')}
    returning d.id`;
  return new Set(rows.map((row) => row.id));
}
