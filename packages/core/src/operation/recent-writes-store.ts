import type { Sql } from '@postrider/db';
import { INSTANCE } from './access.ts';
import type { Actor } from './context.ts';

const SECONDS = 10;

/**
 * Returns whether a key or a user has written within the last ten seconds, on any process: an admitted send, or
 * anything in the audit log of the workspace or the instance. Sends by users count for the whole workspace, here as in
 * the rate window. Served by the primary key of rate_windows and by audit_log_actor.
 */
export async function hasRecentWrites(sql: Sql, actor: Extract<Actor, { kind: 'key' | 'user' }>): Promise<boolean> {
  const [id, sender] = actor.kind === 'key' ? [actor.key_id, actor.key_id] : [actor.user_id, actor.workspace_id];
  const since = sql`clock_now() - make_interval(secs => ${SECONDS})`;
  const audited = (chain: string) => sql`
    select from audit_log a
    where uuid_hash(a.workspace_id) = uuid_hash(${chain}::uuid) and a.actor_id = ${id} and a.id >= id_floor(${since})`;
  const [row] = await sql<{ wrote: boolean }[]>`
    select exists (
      select from rate_windows r
      where r.subject = ${sender}::uuid and r.class = 'send'
        and r.minute in (date_trunc('minute', clock_now()), date_trunc('minute', ${since})) and r.wrote_at > ${since}
    ) or exists (${audited(actor.workspace_id)}) or exists (${audited(INSTANCE)}) as wrote`;
  return row?.wrote !== false;
}
