import { pgConnection } from '@postrider/db';
import type { ConstructorOptions } from 'pg-boss';

/** Longer than Postgres allows itself, so that only a server that says nothing is given up by it. */
export const QUERY_TIMEOUT_MS = 35_000;

/** How pg-boss connects to an address. */
export function bossConnection(address: string): Pick<ConstructorOptions, 'connectionString'> {
  // pg-boss hands all of its options to pg, which takes more than the types of pg-boss name: a password that is a
  // function, and a timeout of queries.
  const connection = { ...pgConnection(address), query_timeout: QUERY_TIMEOUT_MS };
  return connection as Pick<ConstructorOptions, 'connectionString'>;
}
