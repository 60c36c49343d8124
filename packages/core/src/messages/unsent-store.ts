import type { Tx } from '@postrider/db';
import type { KeyMode } from '../api-keys/secret.ts';

export interface UnsentMessage {
  readonly id: string;
  readonly mode: KeyMode;
  readonly from_domain: string;
  readonly created_at: Date;
  /** The start of the first attempt. */
  readonly sent_at: Date | null;
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

/** Those of a message that nobody has tried and that are not closed. */
export async function waitingRecipients(tx: Tx, workspace_id: string, id: string): Promise<WaitingRecipient[]> {
  return tx<WaitingRecipient[]>`
    select workspace_id, message_id, id as recipient_id from recipients
    where message_id = ${id} and workspace_id = ${workspace_id} and state in ('scheduled', 'queued')
    order by id`;
}

export async function setSchedule(tx: Tx, workspace_id: string, id: string, scheduled_at: Date): Promise<void> {
  await tx`
    update messages set scheduled_at = ${scheduled_at}
    where workspace_id = ${workspace_id} and id = ${id}`;
}
