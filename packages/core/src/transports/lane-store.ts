import type { Fragment, Sql, Tx } from '@postrider/db';
import { DEFAULT_TRANSPORT } from './transport.ts';

// No domain and no host:port contains a space.
export const VIA = ' via ';

/** Returns SQL for the transport of a lane, as transportOfLane does. */
export function transportInLane(sql: Sql | Tx, lane: Fragment): Fragment {
  return sql`coalesce(nullif(split_part(${lane}, ${VIA}, 2), ''), ${DEFAULT_TRANSPORT})`;
}

/** Returns SQL for the destination of a lane, as destinationOfLane does. */
export function destinationInLane(sql: Sql | Tx, lane: Fragment): Fragment {
  return sql`split_part(${lane}, ${VIA}, 1)`;
}

/** Returns the pattern that the lanes through a transport match. */
export function lanesThrough(transport_id: string): string {
  return `%${VIA}${transport_id}`;
}
