import { isoTimes, type Tx } from '@postrider/db';
import type { EventType } from '../events/index.ts';
import type { SuppressionReason } from './reason.ts';

export interface NewSuppression {
  readonly workspace_id: string;
  readonly id: string;
  /** Of the event that tells of it, where it is added. */
  readonly event_id: string;
  /** In the one spelling in which recipients are stored. */
  readonly email: string;
  readonly reason: SuppressionReason;
  /** The event that was the cause; null where a person asked for it. */
  readonly source_event_id: string | null;
  /** null: until somebody removes it. */
  readonly expires_at: Date | null;
}

export interface AddedSuppression {
  readonly workspace_id: string;
  readonly id: string;
  readonly email: string;
  readonly created_at: Date;
}

const ADDED: EventType = 'suppression.added';

/**
 * Adds addresses to the suppression lists, each with its event, and returns those that were added. An address that
 * is suppressed already keeps its row and tells nothing again; one whose time has run out is taken over. Rows
 * are taken in the order of the primary key, so that two batches cannot deadlock.
 */
export async function addSuppressions(tx: Tx, rows: readonly NewSuppression[]): Promise<AddedSuppression[]> {
  if (rows.length === 0) return [];
  return tx<AddedSuppression[]>`
    with wanted as materialized (
      select distinct on (workspace_id, email) * from unnest(
        ${rows.map((row) => row.workspace_id)}::text[],
        ${rows.map((row) => row.id)}::text[],
        ${rows.map((row) => row.event_id)}::text[],
        ${rows.map((row) => row.email)}::text[],
        ${rows.map((row) => row.reason)}::text[],
        ${rows.map((row) => row.source_event_id)}::text[],
        ${isoTimes(rows.map((row) => row.expires_at))}::timestamptz[]
      ) as a (workspace_id, id, event_id, email, reason, source_event_id, expires_at)
      order by workspace_id, email, id
    ),
    added as (
      insert into suppressions as s (workspace_id, id, email, reason, source_event_id, created_at, expires_at)
      select workspace_id, id, email, reason, source_event_id, clock_now(), expires_at
      from wanted order by workspace_id, email
      on conflict (workspace_id, email) do update set id = excluded.id, reason = excluded.reason,
        source_event_id = excluded.source_event_id, created_at = excluded.created_at, expires_at = excluded.expires_at
        where s.expires_at <= clock_now()
      returning workspace_id, id, email, reason, source_event_id, created_at
    ),
    recorded as (
      insert into events (workspace_id, id, type, message_id, recipient_id, sequence, facts, created_at)
      select a.workspace_id, w.event_id, ${ADDED}::text, null, null, 1,
        json_build_object('suppression', json_build_object('id', a.id, 'email', a.email, 'reason', a.reason,
          'source_event_id', a.source_event_id))::text,
        a.created_at
      from added a join wanted w on w.id = a.id
    )
    select workspace_id, id, email, created_at from added`;
}
