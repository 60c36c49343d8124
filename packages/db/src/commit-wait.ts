import type { Sql } from './sql.ts';

/** What a commit waits for before it is answered: a standby, the disk of this server, or nothing. */
export type CommitWait = 'standby' | 'disk' | 'nothing';

export async function commitWait(sql: Sql): Promise<CommitWait> {
  const [row] = await sql<{ waits: CommitWait }[]>`
    select case
      when current_setting('synchronous_commit') = 'off' then 'nothing'
      when current_setting('synchronous_commit') <> 'local' and current_setting('synchronous_standby_names') <> ''
        and current_setting('max_wal_senders')::int > 0 then 'standby'
      else 'disk' end as waits`;
  return row?.waits ?? 'nothing';
}
