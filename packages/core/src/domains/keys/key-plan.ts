import type { RecordStatus } from '../records/diagnose.ts';
import type { PublicKeyRow } from '../store.ts';

const SECOND_MS = 1000;
// Relays give up on a message after 4 to 5 days (RFC 5321 section 4.5.4.1), and signatures are checked on arrival.
const RETIRED_MS = 7 * 24 * 3600 * SECOND_MS;

export interface KeyPlan {
  /** Whether to activate the next keys. */
  readonly switches: boolean;
  /** Keys to drop: messages they signed have arrived or expired. */
  readonly drop: readonly string[];
  /** The signing keys from now on, RSA first. */
  readonly signing: readonly string[];
}

/**
 * Decides the key changes that follow from a check. A next key signs once its record has been right for as long as
 * caches may hold an older response; immediately if the record of the active key is lost, since its signatures are then
 * worthless.
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
    // Every receiver checks RSA, so the RSA key always signs; the other key signs only once its record is published.
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
