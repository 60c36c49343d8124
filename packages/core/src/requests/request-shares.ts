import type { RefusedRequest } from '../operation/ports.ts';
import { Minutes, NetworkPlaces } from '../shares/index.ts';

// Rows per minute for this process.
const STRANGER_ROWS = 120;
const NETWORK_ROWS = 20;
const WORKSPACE_ROWS = 600;
const WORKSPACE_BODY_BYTES = 512 * 1024;

/** How much of a request the log stores. */
export type LogDetail = 'whole' | 'without_body' | 'nothing';

/** Requests of one workspace or network that are counted but not stored. */
export interface UncountedRequests {
  readonly last: RefusedRequest;
  count: number;
}

interface UsedSpace {
  rows: number;
  bytes: number;
}

/**
 * Limits how much of the request log each workspace, and each network of unauthenticated clients, may fill per minute.
 */
export class RequestShares {
  readonly #strangers = new NetworkPlaces({
    places: STRANGER_ROWS,
    own_places: NETWORK_ROWS,
    reserve: STRANGER_ROWS / 2,
  });
  readonly #workspaces = new Map<string, UsedSpace>();
  readonly #left = new Map<string, UncountedRequests>();
  readonly #minutes = new Minutes();

  /** Returns whether another minute has begun since the last call. */
  turn(now_ms: number): boolean {
    if (!this.#minutes.turn(now_ms)) return false;
    this.#strangers.reset();
    this.#workspaces.clear();
    return true;
  }

  take(request: RefusedRequest, body_bytes: number): LogDetail {
    if (isStranger(request)) {
      if (this.#strangers.take(request.address ?? '')) return 'without_body';
      return this.#count('', request);
    }
    const owner = request.actor?.workspace_id ?? request.secret_hash?.toString('base64') ?? '';
    const used = this.#workspaces.get(owner) ?? { rows: 0, bytes: 0 };
    this.#workspaces.set(owner, used);
    if (used.rows >= WORKSPACE_ROWS) return this.#count(owner, request);
    used.rows += 1;
    used.bytes += body_bytes;
    return used.bytes > WORKSPACE_BODY_BYTES ? 'without_body' : 'whole';
  }

  /** Returns the requests that were counted but not stored since the last call. */
  uncounted(): UncountedRequests[] {
    const uncounted = [...this.#left.values()];
    this.#left.clear();
    return uncounted;
  }

  #count(owner: string, last: RefusedRequest): 'nothing' {
    this.#left.set(owner, { last, count: (this.#left.get(owner)?.count ?? 0) + 1 });
    return 'nothing';
  }
}

/** Returns whether a request has no valid key or session; the digest of a wrong key identifies no one. */
function isStranger({ actor, secret_hash, error }: RefusedRequest): boolean {
  return actor === null && (secret_hash === null || error.code === 'unauthorized');
}
