import type { Sql } from '@postrider/db';
import { MAX_WAIT_MS } from './batching-policy.ts';

// A smaller batch gets its own connection and does not wait.
const WORTH_FOLLOWING = 16;

/** A connection of the submit batcher and the commits it carries. */
export interface BatchConnection extends ConnectionLoad {
  readonly sql: Sql;
}

export interface ConnectionLoad {
  under_way: number;
  /** Whether the latest commit is on the fast path: a single statement that waits only for locked counters. */
  fast: boolean;
  /** When the latest commit began. */
  begun_ms: number;
}

export function isIdle({ under_way }: ConnectionLoad): boolean {
  return under_way === 0;
}

/**
 * Returns the connection on which a batch may follow another, if any. A fast-path batch may be pipelined behind another
 * on the same connection: the database moves on to the next without waiting for us, and one processor stays free to
 * read requests and write responses.
 */
export function connectionToFollow<P extends ConnectionLoad>(
  connections: readonly P[],
  batch: { readonly size: number; readonly fast: boolean },
  now_ms: number,
): P | undefined {
  if (!batch.fast || batch.size < WORTH_FOLLOWING) return undefined;
  const since_ms = now_ms - MAX_WAIT_MS;
  return connections.find(({ under_way, fast, begun_ms }) => under_way === 1 && fast && begun_ms > since_ms);
}
