import type { Fragment, Sql, Tx } from '@postrider/db';

/** Builds the condition that suppression `s` has not expired. */
export function stillSuppressed(sql: Sql | Tx): Fragment {
  return sql`(s.expires_at is null or s.expires_at > clock_now())`;
}
