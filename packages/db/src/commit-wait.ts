import type { Sql } from './sql.ts';

/** Where a commit must be stored before it is confirmed. All our connections set synchronous_commit to on. */
export type CommitWait = 'standby' | 'disk';

export async function commitWait(sql: Sql): Promise<CommitWait> {
  const [row] = await sql<{ waits: CommitWait }[]>`
    select case
      when current_setting('synchronous_standby_names') <> ''
        and current_setting('max_wal_senders')::int > 0 then 'standby'
      else 'disk' end as waits`;
  return row?.waits ?? 'disk';
}
