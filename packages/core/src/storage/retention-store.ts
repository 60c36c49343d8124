import type { Fragment, Sql, Tx } from '@postrider/db';
import type { RetentionKind } from '../operation/retention.ts';
import { closedInSql } from '../states/index.ts';

/** The tables that are dropped by age, with what their rows are aged as. */
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

/** The partitions whose last row is older than an id, oldest first. */
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

/** Drops a partition, after moving what is still needed; false where it stays for now. */
export async function dropPast(sql: Sql, parent: AgedTable, child: string, before: string): Promise<boolean> {
  const [row] = await sql<{ dropped: boolean }[]>`
    select drop_past(${parent}, ${child}, ${before}::uuid) as dropped`;
  return row?.dropped ?? false;
}

const closed = (sql: Sql | Tx): Fragment => sql`not exists (
  select from recipients o where o.message_id = x.message_id and o.is_open)`;

/** Which rows of a default partition, as x, are past their age and needed no longer. */
const past: Record<AgedTable, (sql: Sql | Tx, before: string) => Fragment> = {
  transcripts: (sql, before) => sql`x.attempt_id < ${before}::uuid`,
  attempts: (sql, before) => sql`x.id < ${before}::uuid`,
  events: (sql, before) => sql`x.id < ${before}::uuid`,
  captures: (sql, before) => sql`x.id < ${before}::uuid`,
  messages: (sql, before) => sql`x.id < ${before}::uuid and x.status in (${closedInSql})`,
  bodies: (sql, before) => sql`x.message_id < ${before}::uuid and ${closed(sql)}`,
  message_tags: (sql, before) => sql`x.message_id < ${before}::uuid and ${closed(sql)}`,
  recipients: (sql, before) => sql`x.message_id < ${before}::uuid and ${closed(sql)}`,
};

/** Deletes some rows of a default partition that are past their age; how many. */
export async function deleteStrays(sql: Sql | Tx, parent: AgedTable, before: string, count: number): Promise<number> {
  const stray = sql(`${parent}_default`);
  const rows = await sql`
    delete from ${stray} s
    where s.ctid = any (array(
      select x.ctid from ${stray} x where ${past[parent](sql, before)} limit ${count} for update skip locked))
    returning true as gone`;
  return rows.length;
}
