import type { Tx } from '@postrider/db';
import type { KeyMode } from '../api-keys/secret.ts';

export interface UnsentMessage {
  readonly id: string;
  readonly mode: KeyMode;
  readonly from_domain: string;
  readonly created_at: Date;
}

export async function lockMessage(tx: Tx, workspace_id: string, id: string): Promise<UnsentMessage | null> {
  const [row] = await tx<UnsentMessage[]>`
    select id, mode, from_domain, created_at, sent_at from messages
    where workspace_id = ${workspace_id} and id = ${id} for no key update`;
  return row ?? null;
}

export interface WaitingRecipient {
  readonly workspace_id: string;
  readonly message_id: string;
  readonly recipient_id: string;
}

/**
 * Locks the recipients of a message, in id order as a claim does: those that are not closed, or null where
 * somebody has been tried.
 */
export async function lockWaiting(tx: Tx, workspace_id: string, id: string): Promise<WaitingRecipient[] | null> {
  const rows = await tx<(WaitingRecipient & { waits: boolean; tried: boolean })[]>`
    select workspace_id, message_id, id as recipient_id, state in ('scheduled', 'queued') as waits,
      first_attempt_at is not null as tried
    from recipients
    where message_id = ${id} and workspace_id = ${workspace_id}
    order by id for no key update`;
  return rows.some((row) => row.tried) ? null : rows.filter((row) => row.waits);
}

export async function setSchedule(tx: Tx, workspace_id: string, id: string, scheduled_at: Date): Promise<void> {
  await tx`
    update messages set scheduled_at = ${scheduled_at}
    where workspace_id = ${workspace_id} and id = ${id}`;
}
