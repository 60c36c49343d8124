import { pgConnection } from '@postrider/db';
import type { ConstructorOptions } from 'pg-boss';

/** How pg-boss connects to an address. */
export function bossConnection(
  address: string,
  more: { readonly query_timeout?: number } = {},
): Pick<ConstructorOptions, 'connectionString'> {
  // pg-boss hands all of its options to pg, which takes more than the types of pg-boss name: a password that is a
  // function, and a timeout of queries.
  return { ...pgConnection(address), ...more } as Pick<ConstructorOptions, 'connectionString'>;
}
