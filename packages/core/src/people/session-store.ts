import type { Sql, Tx } from '@postrider/db';
import type { WorkspaceRole } from './roles.ts';

export interface SessionRow {
  readonly id: string;
  readonly user_id: string;
  readonly email: string;
  readonly operator: boolean;
  readonly by_link: boolean;
  readonly workspace_id: string;
  readonly role: WorkspaceRole | null;
  /** Long enough since its last use was noted for another note. */
  readonly note_due: boolean;
}

/** A session that has been idle for less than 12 hours, is younger than 7 days, and may act where it acts. */
export async function liveSession(sql: Sql, token_hash: Buffer): Promise<SessionRow | null> {
  const [row] = await sql<SessionRow[]>`
    select s.id, s.user_id, u.email, u.operator, s.by_link, s.workspace_id, m.role,
      s.last_used_at < clock_now() - interval '1 minute' as note_due
    from sessions s
    join users u on u.id = s.user_id
    left join members m on m.workspace_id = s.workspace_id and m.user_id = s.user_id
    where s.token_hash = ${token_hash}
      and s.last_used_at > clock_now() - interval '12 hours'
      and s.created_at > clock_now() - interval '7 days'
      and (u.operator or m.role is not null)`;
  return row ?? null;
}

export async function noteSessionUse(sql: Sql, id: string): Promise<void> {
  await sql`update sessions set last_used_at = clock_now() where id = ${id}`;
}

export async function insertSession(
  tx: Sql | Tx,
  session: {
    readonly id: string;
    readonly token_hash: Buffer;
    readonly user_id: string;
    readonly workspace_id: string;
    readonly by_link: boolean;
  },
): Promise<void> {
  await tx`
    insert into sessions (id, token_hash, user_id, workspace_id, by_link, created_at, last_used_at)
    values (${session.id}, ${session.token_hash}, ${session.user_id}, ${session.workspace_id}, ${session.by_link},
      clock_now(), clock_now())`;
}
