/** Longer than Postgres allows itself, so that only a server that says nothing is given up by it. */
export const QUERY_TIMEOUT_MS = 35_000;

/** An address of a database with a time for each query of node-postgres. */
export function withQueryTimeout(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  url.searchParams.set('query_timeout', String(QUERY_TIMEOUT_MS));
  return url.href;
}
