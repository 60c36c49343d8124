import { type Fragment, fence, type Sql, type Tx } from '@postrider/db';
import type { RetentionKind } from '../operation/retention.ts';
import { closedInSql } from '../states/index.ts';

/** The tables that are dropped by age, with the kind that determines the age of their rows. */
export const agedTables = {
  transcripts: 'transcripts',
  bodies: 'bodies',
  attempts: 'events',
  events: 'events',
  captures: 'captures',
  message_tags: 'messages',
  messages: 'messages',
  recipients: 'messages',
} as const satisfies Record<string, RetentionKind>;
export type AgedTable = keyof typeof agedTables;

/** Returns the partitions whose last row is older than an id, oldest first. */
export async function pastPartitions(sql: Sql, parent: AgedTable, before: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select c.relname as name
    from partitioned_tables t
    join pg_inherits i on i.inhparent = t.parent::regclass
    join pg_class c on c.oid = i.inhrelid
    where t.parent = ${parent}
      and case when c.relname ~ '_[0-9]+$' then
        id_floor(partition_start(t.parent, t.period, c.relname) + ('1 ' || t.period)::interval) <= ${before}::uuid end
    order by c.relname`;
  return rows.map(({ name }) => name);
}

/**
 * `dropped`: the partition was dropped. `mails`, `bytes`: it was kept because more of its messages, or bytes, are still
 * needed than can be moved in one step. `current`: it was kept because it covers a period that has partitions anyway, and
 * contains only rows that are still needed.
 */
export interface Drop {
  readonly outcome: 'dropped' | 'mails' | 'bytes' | 'current';
  readonly amount: number;
}

/** Drops a partition after moving the rows that are still needed. */
export async function dropPast(sql: Sql, parent: AgedTable, child: string, before: string): Promise<Drop> {
  const [row] = await sql<Drop[]>`select outcome, amount from drop_past(${parent}, ${child}, ${before}::uuid)`;
  if (!row) throw new Error(`dropping ${child} answered nothing`);
  return row;
}

const closed = (sql: Sql | Tx): Fragment => sql`not exists (
  select from recipients o where o.message_id = x.message_id and o.is_open ${fence})`;

/** Messages whose last event is older than this are not expected to bounce. */
const quietThreshold = (sql: Sql | Tx): Fragment => sql`clock_now() - interval '5 days'`;

/** The condition for rows x of a default partition that have expired and are no longer needed. */
const past: Record<AgedTable, (sql: Sql | Tx, before: string) => Fragment> = {
  transcripts: (sql, before) => sql`x.attempt_id < ${before}::uuid`,
  attempts: (sql, before) => sql`x.id < ${before}::uuid`,
  events: (sql, before) => sql`x.id < ${before}::uuid`,
  captures: (sql, before) => sql`x.id < ${before}::uuid`,
  messages: (sql, before) => sql`
    x.id < ${before}::uuid and x.status in (${closedInSql}) and x.last_event_at < ${quietThreshold(sql)}`,
  bodies: (sql, before) => sql`x.message_id < ${before}::uuid and ${closed(sql)}`,
  message_tags: (sql, before) => sql`x.message_id < ${before}::uuid and ${closed(sql)}`,
  recipients: (sql, before) => sql`x.message_id < ${before}::uuid and ${closed(sql)} and not exists (
    select from messages m
    where m.workspace_id = x.workspace_id and m.id = x.message_id and m.last_event_at >= ${quietThreshold(sql)} ${fence})`,
};

export async function readStrayPages(sql: Sql | Tx, parent: AgedTable): Promise<number> {
  const [row] = await sql<{ pages: number }[]>`
    select pg_relation_size(${`${parent}_default`}::text::regclass) / current_setting('block_size')::int8 as pages`;
  return row?.pages ?? 0;
}

/** Deletes expired rows on some pages of a default partition, reading each page once. */
export async function deleteStrays(
  sql: Sql | Tx,
  parent: AgedTable,
  before: string,
  pages: { readonly from: number; readonly to: number },
): Promise<void> {
  const stray = sql(`${parent}_default`);
  await sql`
    delete from ${stray} s
    where s.ctid = any (array(
      select x.ctid from ${stray} x
      where x.ctid >= ${`(${pages.from},0)`}::tid and x.ctid < ${`(${pages.to},0)`}::tid and ${past[parent](sql, before)}
      for update skip locked))`;
}
