import type { Sql, Tx } from '@postrider/db';

export interface Tries {
  readonly subject: string;
  readonly failed: number;
  readonly minutes_left: number;
}

/**
 * Counts an attempt as failed for each subject before it is made, so that concurrent attempts cannot exceed the limit.
 */
export async function countAttempt(sql: Sql, subjects: readonly string[]): Promise<Tries[]> {
  return sql<Tries[]>`
    insert into login_failures as f (subject, began_at, failed)
    select subject, clock_now(), 1 from unnest(${subjects}::text[]) as s (subject) order by subject
    on conflict (subject) do update set
      failed = case when f.began_at > clock_now() - interval '15 minutes' then f.failed + 1 else 1 end,
      began_at = case when f.began_at > clock_now() - interval '15 minutes' then f.began_at else clock_now() end
    returning subject, failed,
      ceil(extract(epoch from began_at + interval '15 minutes' - clock_now()) / 60)::int as minutes_left`;
}

export async function forgetTries(sql: Sql, subject: string): Promise<void> {
  await sql`update login_failures set failed = 0 where subject = ${subject}`;
}

/** Refunds one attempt to each subject. */
export async function forgiveAttempt(sql: Sql, subjects: readonly string[]): Promise<void> {
  await sql`
    update login_failures set failed = greatest(0, failed - 1) where subject in (
      select subject from login_failures where subject = any(${subjects}::text[]) order by subject for update)`;
}

export async function forgetLoginFailures(sql: Sql | Tx): Promise<void> {
  await sql`delete from login_failures where began_at < clock_now() - interval '15 minutes'`;
}
