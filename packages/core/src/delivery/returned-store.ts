import type { Tx } from '@postrider/db';
import type { DeliveryState, RecipientKey } from '../states/index.ts';
import type { ReturnPath } from './return-path.ts';
import { lockMessages } from './store.ts';

/** The recipient of a returned message. */
export interface ReturnedTo extends RecipientKey {
  readonly email: string;
  readonly state: DeliveryState;
}

/**
 * Finds the recipient of a returned message; null if the message is no longer stored. Served by the primary key, which
 * starts with the message.
 */
export async function findReturnedTo(tx: Tx, path: ReturnPath): Promise<ReturnedTo | null> {
  const rows = await tx<ReturnedTo[]>`
    select workspace_id, message_id, id as recipient_id, email, state from recipients
    where message_id = ${path.message_id}`;
  return rows.find(({ recipient_id }) => recipient_id.endsWith(path.recipient_end)) ?? null;
}

/**
 * Appends the event of a delay reported after our delivery; the state is unchanged. Returns false if the recipient is
 * not delivered, or had such an event within the last hour: some systems warn every few minutes.
 */
export async function recordDelay(
  tx: Tx,
  delay: RecipientKey & { readonly event_id: string; readonly event_facts: Readonly<Record<string, unknown>> },
): Promise<boolean> {
  await lockMessages(tx, [delay]);
  const { workspace_id, message_id, recipient_id } = delay;
  const rows = await tx`
    with touched as (
      update messages m set
        event_count = m.event_count + 1, last_event_type = 'email.delivery_delayed', last_event_at = clock_now()
      where m.workspace_id = ${workspace_id} and m.id = ${message_id}
        and exists (
          select from recipients r
          where r.message_id = ${message_id} and r.id = ${recipient_id} and r.workspace_id = ${workspace_id}
            and r.state = 'delivered'
        )
        and not exists (
          select from events e
          where e.workspace_id = ${workspace_id} and e.message_id = ${message_id} and e.recipient_id = ${recipient_id}
            and e.type = 'email.delivery_delayed' and e.created_at > clock_now() - interval '1 hour'
            and e.created_at > m.delivered_at
        )
      returning m.workspace_id, m.id, m.event_count
    )
    insert into events (workspace_id, id, type, message_id, recipient_id, sequence, facts, created_at)
    select t.workspace_id, ${delay.event_id}::uuid, 'email.delivery_delayed', t.id, ${recipient_id}::uuid, t.event_count,
      ${JSON.stringify(delay.event_facts)}, clock_now()
    from touched t
    returning id`;
  return rows.length > 0;
}
