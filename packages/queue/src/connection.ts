import { pgConnection } from '@postrider/db';
import type { ConstructorOptions } from 'pg-boss';

/** Longer than Postgres's own limit, so that this limit applies only if the server is silent. */
export const QUERY_TIMEOUT_MS = 35_000;

/** Returns the options with which pg-boss connects to a URL. */
export function bossConnection(address: string): Pick<ConstructorOptions, 'connectionString'> {
  // pg-boss passes all its options to pg, which accepts more than pg-boss's types declare: a password function and a
  // query timeout.
  const connection = { ...pgConnection(address), query_timeout: QUERY_TIMEOUT_MS };
  return connection as Pick<ConstructorOptions, 'connectionString'>;
}
