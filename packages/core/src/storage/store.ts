import type { Sql } from '@postrider/db';

/** Makes next months' partitions while they are still empty. */
export async function extendPartitions(sql: Sql): Promise<void> {
  await sql`select ensure_all_partitions(clock_now())`;
}

export async function forgetIdempotencyKeys(sql: Sql): Promise<void> {
  await sql`delete from idempotency_keys where expires_at < clock_now()`;
}
