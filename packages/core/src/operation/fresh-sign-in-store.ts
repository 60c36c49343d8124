import type { Sql } from '@postrider/db';

/** Returns whether the session was authenticated by a password or login link within the last hour. */
export async function isFresh(sql: Sql, session_id: string): Promise<boolean> {
  const [row] = await sql<{ fresh: boolean }[]>`
    select authenticated_at > clock_now() - interval '1 hour' as fresh from sessions where id = ${session_id}`;
  return row?.fresh ?? false;
}
