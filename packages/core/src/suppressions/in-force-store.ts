import type { Fragment, Sql, Tx } from '@postrider/db';

/** Whether a suppression `s` holds just now. */
export function stillSuppressed(sql: Sql | Tx): Fragment {
  return sql`(s.expires_at is null or s.expires_at > clock_now())`;
}
