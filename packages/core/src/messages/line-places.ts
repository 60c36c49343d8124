import type { Sql } from '@postrider/db';
import { LONGEST_HOLD_MS } from './commit-pace.ts';

// A smaller one goes on a connection of its own and waits for nobody.
const WORTH_FOLLOWING = 16;

/** A connection of the line with the commits that it carries. */
export interface Place extends Carried {
  readonly lane: Sql;
}

export interface Carried {
  under_way: number;
  /** Whether the last one is stored at once, in one statement that waits for nothing but rows that others count in. */
  at_once: boolean;
  /** When the last one began. */
  begun_ms: number;
}

export function isIdle({ under_way }: Carried): boolean {
  return under_way === 0;
}

/**
 * A batch that is stored at once follows another on the same connection, so that the database goes from one to the
 * next by itself, and one processor is left for what is read and answered meanwhile.
 */
export function placeToFollow<P extends Carried>(
  places: readonly P[],
  batch: { readonly size: number; readonly at_once: boolean },
  now_ms: number,
): P | undefined {
  if (!batch.at_once || batch.size < WORTH_FOLLOWING) return undefined;
  const since_ms = now_ms - LONGEST_HOLD_MS;
  return places.find(({ under_way, at_once, begun_ms }) => under_way === 1 && at_once && begun_ms > since_ms);
}
