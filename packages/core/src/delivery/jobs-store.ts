import { type Fragment, fence, isoTimes, type Sql, type Tx } from '@postrider/db';
import type { Job } from '@postrider/queue';
import { jobPriorityOf } from '../priorities/index.ts';
import type { RecipientKey } from '../states/index.ts';

export type DeliveryJob = Job<RecipientKey>;

interface DeliveryJobs {
  insertion(sql: Sql | Tx, name: 'delivery.attempt', source: Fragment): Fragment;
}

export interface NewDeliveryJob extends RecipientKey {
  readonly job_id: string;
  /** Defaults to now. */
  readonly start_after?: Date;
}

/** Adds jobs for recipients, each with the priority of its message. Served by the primary key of messages. */
export async function addDeliveryJobs(tx: Tx, jobs: DeliveryJobs, added: readonly NewDeliveryJob[]): Promise<void> {
  if (added.length === 0) return;
  await jobs.insertion(
    tx,
    'delivery.attempt',
    tx`
      select a.job_id as id, a.start_after, ${jobPriorityOf(tx, tx`m.priority`)} as priority,
        jsonb_build_object('workspace_id', a.workspace_id, 'message_id', a.message_id, 'recipient_id', a.recipient_id)
          as data
      from unnest(
        ${added.map(({ job_id }) => job_id)}::uuid[],
        ${added.map(({ workspace_id }) => workspace_id)}::uuid[],
        ${added.map(({ message_id }) => message_id)}::uuid[],
        ${added.map(({ recipient_id }) => recipient_id)}::uuid[],
        ${isoTimes(added.map(({ start_after }) => start_after ?? null))}::timestamptz[]
      ) as a (job_id, workspace_id, message_id, recipient_id, start_after)
      cross join lateral (
        select x.priority from messages x where x.workspace_id = a.workspace_id and x.id = a.message_id ${fence}
      ) m`,
  );
}
