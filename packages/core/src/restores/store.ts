import type { Sql, Tx } from '@postrider/db';
import { isThere, LEASE_SECONDS } from '../delivery/index.ts';
import { closedInSql, type DeliveryState } from '../states/index.ts';
import type { KnownMessage, KnownState, RecipientQuery } from './known-sent.ts';

export interface OpenRecipient extends RecipientQuery {
  readonly workspace_id: string;
  readonly state: DeliveryState;
  readonly next_job_id: string | null;
}

/**
 * Returns open recipients, in the order of their keys. Served by the primary key, because this reads most of a restored
 * database once.
 */
export async function openRecipients(
  sql: Sql,
  after: Pick<OpenRecipient, 'message_id' | 'recipient_id'> | null,
  count: number,
): Promise<OpenRecipient[]> {
  return sql<OpenRecipient[]>`
    select r.workspace_id, r.message_id, r.id as recipient_id, r.email, r.state, r.job_id as next_job_id, m.recipient_count
    from recipients r join messages m on m.workspace_id = r.workspace_id and m.id = r.message_id
    where r.is_open and ${after === null ? sql`true` : sql`(r.message_id, r.id) > (${after.message_id}, ${after.recipient_id})`}
    order by r.message_id, r.id limit ${count}`;
}

/**
 * Returns the known state of these recipients, omitting those that wait for an attempt. A bounce counts as sent if a
 * server had accepted the message before.
 */
export async function knownAmong(sql: Sql, keys: readonly RecipientQuery[]): Promise<Map<string, KnownState>> {
  const rows = await sql<{ id: string; known: KnownState }[]>`
    select r.id, case
        when r.state in ('delivered', 'complained') then 'sent'
        when r.state = 'sending' then 'perhaps'
        when r.state = 'bounced' and exists (
          select from attempts t
          where t.message_id = a.message_id and t.recipient_id = a.recipient_id and t.outcome = 'accepted'
        ) then 'sent'
        else 'ended'
      end as known
    from unnest(
      ${keys.map(({ message_id }) => message_id)}::uuid[],
      ${keys.map(({ recipient_id }) => recipient_id)}::uuid[]
    ) as a (message_id, recipient_id)
    cross join lateral (
      select x.id, x.state from recipients x where x.message_id = a.message_id and x.id = a.recipient_id
    ) r
    where r.state = 'sending' or r.state in (${closedInSql})`;
  return new Map(rows.map(({ id, known }) => [id, known]));
}

/** Returns messages in order, starting at `id`. Served by the primary key of recipients. */
export async function messagesFrom(sql: Sql, id: string, count: number): Promise<KnownMessage[]> {
  return sql<KnownMessage[]>`
    select r.message_id as id, not bool_or(r.is_open) as is_closed
    from recipients r where r.message_id >= ${id} group by 1 order by 1 limit ${count}`;
}

export async function storedAmong(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select r.message_id as id from unnest(${[...ids]}::uuid[]) as a (id)
    cross join lateral (select x.message_id from recipients x where x.message_id = a.id limit 1) r`;
  return new Set(rows.map((row) => row.id));
}

/**
 * Returns the newest message before an id; null if there is no earlier message. Served by the primary key of
 * recipients.
 */
export async function newestBefore(sql: Sql, id: string): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    select r.message_id as id from recipients r where r.message_id < ${id} order by r.message_id desc limit 1`;
  return row?.id ?? null;
}

export interface RestoredCounts {
  readonly workers: number;
  readonly webhook_deliveries: number;
  readonly bulk_operations: number;
}

export async function restored(sql: Sql): Promise<RestoredCounts> {
  const [row] = await sql<RestoredCounts[]>`
    select (select count(*)::int from delivery_workers w where ${isThere(sql)}) as workers,
      (select count(*)::int from webhook_deliveries d where d.state = 'pending') as webhook_deliveries,
      (select count(*)::int from bulk_operations b where b.status in ('queued', 'running')) as bulk_operations`;
  if (!row) throw new Error('a select without a condition answered nothing');
  return row;
}

/** Expires the leases of workers that stopped with the lost database. Live workers renew their own. */
export async function endLostLeases(tx: Tx): Promise<void> {
  await tx`
    update recipients r set lease_until = clock_now() - interval '1 millisecond'
    where r.is_open and r.state = 'sending' and r.lease_until between clock_now() and clock_now() + make_interval(secs => ${LEASE_SECONDS})
      and not exists (select from delivery_workers w where ${isThere(tx)})`;
}
