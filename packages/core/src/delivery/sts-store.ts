import type { Sql, Tx } from '@postrider/db';
import type { FetchedPolicy } from '@postrider/mail';

const MAX_POLICIES = 100_000;

export async function stsPolicyOf(sql: Sql, domain: string): Promise<FetchedPolicy | null> {
  const [row] = await sql<FetchedPolicy[]>`
    select id, mode, mx, extract(epoch from expires_at - clock_now())::float8 as max_age_seconds
    from sts_policies where domain = ${domain} and expires_at > clock_now()`;
  return row ?? null;
}

/**
 * Stores a fetched policy. If two processes fetch at the same time, either result may be right; the last write wins.
 */
export async function keepStsPolicy(sql: Sql, domain: string, policy: FetchedPolicy): Promise<void> {
  await sql`
    insert into sts_policies (domain, id, mode, mx, expires_at)
    values (${domain}, ${policy.id}, ${policy.mode}, ${[...policy.mx]}::text[],
      clock_now() + make_interval(secs => ${policy.max_age_seconds}))
    on conflict (domain) do update set id = excluded.id, mode = excluded.mode, mx = excluded.mx,
      expires_at = excluded.expires_at`;
}

/** Removes expired policies and, above the table limit, those that expire soonest. */
export async function forgetStsPolicies(sql: Sql | Tx, max: number = MAX_POLICIES): Promise<void> {
  await sql`delete from sts_policies where expires_at <= clock_now()`;
  await sql`
    delete from sts_policies where domain in (
      select domain from sts_policies order by expires_at desc, domain offset ${max}
    )`;
}
