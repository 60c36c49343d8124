import { fence, listOf, type Sql, type Tx } from '@postrider/db';
import { type DeliveryState, lockMessages, openStates } from '../delivery/index.ts';
import type { KeyMode } from '../operation/secrets.ts';

export interface OpenMail {
  readonly id: string;
}

/**
 * Reads a page of a workspace's messages in an open status. Returns the messages of one domain, except those accepted
 * after the name was added again, and the last id read, which is null at the end. Served by messages_status.
 */
export async function openMailOf(
  sql: Sql,
  { workspace_id, domain, status }: { workspace_id: string; domain: string; status: DeliveryState },
  after: string,
  count: number,
): Promise<{ readonly messages: OpenMail[]; readonly last: string | null }> {
  const rows = await sql<{ id: string; wanted: boolean }[]>`
    select m.id, m.from_domain = ${domain} and m.created_at < coalesce(
      (select d.created_at from domains d where d.workspace_id = ${workspace_id} and d.name = ${domain}), 'infinity'
    ) as wanted
    from messages m
    where ${listOf(sql, sql`m.workspace_id`, workspace_id)} and m.status = ${status}
      and m.id > ${after}
    order by m.id limit ${count}`;
  const messages = rows.filter((row) => row.wanted).map(({ id }) => ({ id }));
  return { messages, last: rows.length < count ? null : (rows.at(-1)?.id ?? null) };
}

export interface OpenRecipient {
  readonly message_id: string;
  readonly recipient_id: string;
  readonly mode: KeyMode;
  readonly created_at: Date;
  readonly sent_at: Date | null;
}

/** Locks messages in id order, as every transition does, and reads the recipients still open. */
export async function openRecipientsOf(
  tx: Tx,
  workspace_id: string,
  messages: readonly OpenMail[],
): Promise<OpenRecipient[]> {
  const ids = messages.map(({ id }) => id).sort();
  await lockMessages(
    tx,
    ids.map((message_id) => ({ workspace_id, message_id })),
  );
  return tx<OpenRecipient[]>`
    select m.id as message_id, r.id as recipient_id, m.mode, m.created_at, m.sent_at
    from unnest(${ids}::uuid[]) as a (id)
    cross join lateral (
      select * from messages x where x.workspace_id = ${workspace_id} and x.id = a.id ${fence}
    ) m
    join recipients r on r.workspace_id = ${workspace_id} and r.message_id = a.id
    where r.state = any (${[...openStates]}::text[]::delivery_state[])
    order by m.id, r.id`;
}
