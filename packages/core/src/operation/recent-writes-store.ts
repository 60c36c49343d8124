import type { Sql } from '@postrider/db';
import type { Actor } from './context.ts';

const SECONDS = 10;

/**
 * Whether a key or a user has written within ten seconds, on any process: a mail that was accepted, or anything that is
 * in the audit log. Served by the primary key of messages, and by audit_log_actor.
 */
export async function wroteLately(sql: Sql, actor: Extract<Actor, { kind: 'key' | 'user' }>): Promise<boolean> {
  const id = actor.kind === 'key' ? actor.key_id : actor.user_id;
  const since = sql`id_floor(clock_now() - make_interval(secs => ${SECONDS}))`;
  const [row] = await sql<{ wrote: boolean }[]>`
    select exists (
      select from messages m where m.workspace_id = ${actor.workspace_id} and m.id >= ${since} and m.api_key_id = ${id}
    ) or exists (
      select from audit_log a
      where uuid_hash(a.workspace_id) = uuid_hash(${actor.workspace_id}::uuid) and a.actor_id = ${id} and a.id >= ${since}
    ) as wrote`;
  return row?.wrote !== false;
}
