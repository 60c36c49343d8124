import { fence, type Sql, type Tx } from '@postrider/db';
import { openStates, type RecipientKey } from '../states/index.ts';
import { isRecipientUnpruned } from './store.ts';

/** An overdue recipient and its position in due order. */
export interface Overdue extends RecipientKey {
  readonly job_id: string | null;
  readonly parked: boolean;
  /** As text: a Date would truncate the microseconds of the page cursor. */
  readonly due_at: string;
}

/**
 * Returns a page of unclaimed open recipients that have been due for a while, oldest first. Takes no locks, so that
 * workers are not blocked. Served by recipients_open; `${fence}` keeps the planner from reading all parked rows for
 * each page.
 */
export async function overdueRecipients(
  sql: Sql | Tx,
  older_than_seconds: number,
  after: Overdue | null,
  count: number,
): Promise<Overdue[]> {
  return sql<Overdue[]>`
    select workspace_id, message_id, id as recipient_id, job_id, due_at::text as due_at,
      exists (select from parked_deliveries p where p.job_id = recipients.job_id ${fence}) as parked
    from recipients
    where is_open
      and due_at < clock_now() - make_interval(secs => ${older_than_seconds})
      and (lease is null or lease_until < clock_now() - make_interval(secs => ${older_than_seconds}))
      ${
        after === null
          ? sql``
          : sql`and due_at >= ${after.due_at}::text::timestamptz
              and (due_at, workspace_id, message_id, id)
                > (${after.due_at}::text::timestamptz, ${after.workspace_id}, ${after.message_id}, ${after.recipient_id})`
      }
    order by recipients.due_at, workspace_id, message_id, id limit ${count}`;
}

/**
 * Locks recipients that are still open, free, and without a live job. Skips rows being claimed, or being rescued by
 * another reconciler.
 */
export async function lockOrphans(tx: Tx, orphans: readonly Overdue[]): Promise<RecipientKey[]> {
  if (orphans.length === 0) return [];
  return tx<RecipientKey[]>`
    select r.workspace_id, r.message_id, r.id as recipient_id
    from recipients r
    join unnest(
      ${orphans.map((orphan) => orphan.workspace_id)}::uuid[],
      ${orphans.map((orphan) => orphan.message_id)}::uuid[],
      ${orphans.map((orphan) => orphan.recipient_id)}::uuid[],
      ${orphans.map((orphan) => orphan.job_id)}::uuid[]
    ) as a (workspace_id, message_id, recipient_id, job_id)
      on ${isRecipientUnpruned(tx, 'a')}
    where r.state = any (${[...openStates]}::text[]::delivery_state[])
      and (r.lease is null or r.lease_until < clock_now())
      and r.job_id is not distinct from a.job_id
    for no key update of r skip locked`;
}
