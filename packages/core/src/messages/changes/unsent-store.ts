import { equalsUnpruned, type Tx } from '@postrider/db';
import type { DeliveryState } from '../../delivery/index.ts';
import type { KeyMode } from '../../operation/secrets.ts';
import { idIn } from '../../paging/keyset-store.ts';

export interface LockedMessage {
  readonly id: string;
  readonly status: DeliveryState;
  readonly mode: KeyMode;
  readonly from_domain: string;
  readonly created_at: Date;
  readonly scheduled_at: Date | null;
}

/** Locks messages in id order, like every transition. */
export async function lockMailOf(tx: Tx, workspace_id: string, ids: readonly string[]): Promise<LockedMessage[]> {
  return tx<LockedMessage[]>`
    select locked.* from unnest(${ids.toSorted()}::uuid[]) as a (id)
    cross join lateral (
      select m.id, m.status, m.mode, m.from_domain, m.created_at, m.scheduled_at from messages m
      where ${equalsUnpruned(tx, tx`m.workspace_id, m.id`, tx`${workspace_id}::uuid, a.id`)} for no key update
    ) locked`;
}

export interface LockedRecipient {
  readonly workspace_id: string;
  readonly message_id: string;
  readonly recipient_id: string;
  readonly state: DeliveryState;
  readonly due: boolean;
  readonly tried: boolean;
  /** The job of its next attempt. */
  readonly next_job_id: string | null;
}

/** Locks recipients in id order, as a claim does. */
export async function lockRecipientsOf(
  tx: Tx,
  workspace_id: string,
  ids: readonly string[],
): Promise<LockedRecipient[]> {
  if (ids.length === 0) return [];
  return tx<LockedRecipient[]>`
    select r.workspace_id, r.message_id, r.id as recipient_id, r.state, r.due_at <= clock_now() as due,
      r.first_attempt_at is not null as tried, r.job_id as next_job_id
    from recipients r
    where ${idIn(tx, tx`r.message_id`, ids)} and r.workspace_id = ${workspace_id}
    order by r.message_id, r.id for no key update`;
}

/** Marks recipients that are being sent to so that a deferral of the current attempt becomes final. */
export async function markGivingUp(tx: Tx, recipients: readonly LockedRecipient[]): Promise<void> {
  if (recipients.length === 0) return;
  const ids = recipients.map(({ message_id }) => message_id);
  await tx`
    update recipients r set giving_up = true
    from unnest(
      ${recipients.map(({ workspace_id }) => workspace_id)}::uuid[],
      ${ids}::uuid[],
      ${recipients.map(({ recipient_id }) => recipient_id)}::uuid[]
    ) as a (workspace_id, message_id, recipient_id)
    where ${idIn(tx, tx`r.message_id`, ids)} and r.message_id = a.message_id and r.id = a.recipient_id
      and r.workspace_id = a.workspace_id and r.state = 'sending'`;
}

export async function setSchedule(
  tx: Tx,
  workspace_id: string,
  ids: readonly string[],
  scheduled_at: Date,
): Promise<void> {
  await tx`
    update messages m set scheduled_at = ${scheduled_at}
    where m.workspace_id = ${workspace_id} and ${idIn(tx, tx`m.id`, ids)}`;
}

/** Deletes the contents of messages and returns the ids that still had any. */
export async function deleteBodies(tx: Tx, workspace_id: string, ids: readonly string[]): Promise<Set<string>> {
  const rows = await tx<{ id: string }[]>`
    delete from bodies b where b.workspace_id = ${workspace_id} and ${idIn(tx, tx`b.message_id`, ids)}
    returning b.message_id as id`;
  return new Set(rows.map((row) => row.id));
}
