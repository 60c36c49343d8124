import type { Sql } from '@postrider/db';

/** Returns the mailbox providers of well-known domains; a few hundred rows. */
export async function providerDomains(sql: Sql): Promise<Map<string, string>> {
  const rows = await sql<{ domain: string; provider: string }[]>`select domain, provider from provider_domains`;
  return new Map(rows.map(({ domain, provider }) => [domain, provider]));
}
