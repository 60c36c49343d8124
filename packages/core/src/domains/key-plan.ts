import type { RecordStatus } from './diagnose.ts';
import type { PublicKeyRow } from './store.ts';

const SECOND_MS = 1000;
// Relays give up on a mail after 4 to 5 days (RFC 5321 section 4.5.4.1), and its signature is checked on arrival.
const RETIRED_MS = 7 * 24 * 3600 * SECOND_MS;

export interface KeyPlan {
  /** The next keys take over. */
  readonly switches: boolean;
  /** Mail that they signed has arrived or been given up. */
  readonly drop: readonly string[];
  /** Those that sign from now on, RSA first. */
  readonly signing: readonly string[];
}

/**
 * What follows for the keys of a domain from what a check saw of their records. A next key signs once its record has
 * been right for as long as caches may hold something older; at once where the record of the active key is lost, since
 * signatures of that one are worth nothing any more.
 */
export function planKeys(
  keys: readonly PublicKeyRow[],
  statusOf: (key_id: string) => RecordStatus | undefined,
  signing_now: readonly string[],
): KeyPlan {
  const seasoned = (key: PublicKeyRow) => key.right_ms !== null && key.right_ms >= key.wait_seconds * SECOND_MS;
  const rsa = (role: PublicKeyRow['role']) => keys.find((key) => key.role === role && key.algorithm === 'rsa');
  const [active, next] = [rsa('active'), rsa('next')];
  const active_status = active && statusOf(active.id);
  const active_lost = active_status !== undefined && active_status !== 'ok' && active_status !== 'lookup_error';
  const switches = next !== undefined && statusOf(next.id) === 'ok' && (seasoned(next) || active_lost);
  const signs = (key: PublicKeyRow): boolean => {
    if (key.role !== (switches ? 'next' : 'active')) return false;
    // Every receiver checks RSA, so it signs always; what is beside it only once its record is there.
    if (key.algorithm === 'rsa') return true;
    const status = statusOf(key.id);
    if (status === undefined || status === 'lookup_error') return signing_now.includes(key.id);
    return status === 'ok' && seasoned(key);
  };
  return {
    switches,
    drop: keys.filter((key) => key.role === 'retired' && key.in_role_ms >= RETIRED_MS).map(({ id }) => id),
    signing: keys.filter(signs).map(({ id }) => id),
  };
}
