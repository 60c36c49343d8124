import type { Sql } from '@postrider/db';
import { type EventSlice, isDelivery, owedKeys } from './delivery-store.ts';

export interface RecoverableRow {
  /** Events whose delivery failed or is missing, with the first and the last of them. */
  readonly matched: number;
  readonly first_event_id: string | null;
  readonly last_event_id: string | null;
  readonly pending: number;
  readonly delivered: number;
  /** The number of events that were read. */
  readonly examined: number;
}

/** Counts what a recovery of a slice of events would deliver, and what it would leave out. */
export async function readRecoverable(sql: Sql, slice: EventSlice): Promise<RecoverableRow> {
  const [row] = await sql<RecoverableRow[]>`
    with ${owedKeys(sql, slice)},
    states as materialized (
      select k.event_id, coalesce(d.state, 'failed') as state
      from keys k left join webhook_deliveries d on ${isDelivery(sql, 'k')}
    )
    select (count(*) filter (where state = 'failed'))::int as matched,
      min(event_id) filter (where state = 'failed') as first_event_id,
      max(event_id) filter (where state = 'failed') as last_event_id,
      (count(*) filter (where state = 'pending'))::int as pending,
      (count(*) filter (where state = 'delivered'))::int as delivered,
      (select count(*)::int from slice) as examined
    from states`;
  if (!row) throw new Error('an aggregate returned no row');
  return row;
}
