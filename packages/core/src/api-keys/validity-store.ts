import type { Fragment, Sql, Tx } from '@postrider/db';

/** Returns SQL for the current status of the row `k` of api_keys: active, revoked or expired. */
export function keyStatusIn(sql: Sql | Tx): Fragment {
  return sql`
    case when k.revoked_at is not null then 'revoked' when k.expires_at <= clock_now() then 'expired' else 'active' end`;
}

/** Returns SQL for why the row `k` of api_keys is not accepted from an address; null if it is. */
export function keyRefusalIn(sql: Sql | Tx, address: Fragment): Fragment {
  return sql`
    case ${keyStatusIn(sql)} when 'revoked' then 'revoked_key' when 'expired' then 'expired_key'
      else case when not (${address} <<= any (k.allowed_ips)) then 'address_not_allowed' end end`;
}
