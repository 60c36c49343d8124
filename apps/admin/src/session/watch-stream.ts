import type { Services } from '@postrider/core';
import type { OpenStream } from '@postrider/core/usage';

const CHECK_MS = 5000;
const RENEW_MS = 30_000;

/**
 * Returns a function that reports whether a stream may continue. The function checks the key or session every few
 * seconds, or right away if `immediately` is set, and also renews the stream's slot.
 */
export function watchStream(
  { clock }: Pick<Services, 'clock'>,
  place: OpenStream,
  isAdmitted: () => Promise<boolean>,
): (immediately: boolean) => Promise<boolean> {
  let checked_at = clock.now();
  let renewed_at = checked_at;
  return async (immediately) => {
    const now = clock.now();
    if (immediately || now - checked_at >= CHECK_MS) {
      checked_at = now;
      if (!(await isAdmitted())) return false;
    }
    if (now - renewed_at >= RENEW_MS) {
      renewed_at = now;
      await place.renew();
    }
    return true;
  };
}
