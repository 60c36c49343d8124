import type { Services } from '../../operation/context.ts';
import { AppError } from '../../operation/errors.ts';
import { countRejected, Places, passwordBounds } from '../../shares/index.ts';

const places = new Places(passwordBounds);

/**
 * Hashes or checks a password in one of the owner's places. All passwords of a process wait in one queue and take a
 * third of a second each.
 */
export async function inPasswordPlace<T>(
  { metrics }: Pick<Services, 'metrics'>,
  owner: string,
  work: () => Promise<T>,
): Promise<T> {
  if (!places.take(owner)) {
    countRejected(metrics, 'password_checks')();
    throw new AppError('login_rate', 'Too many passwords are being checked right now. Try again in a minute.', {
      retry_after_seconds: 60,
    });
  }
  try {
    return await work();
  } finally {
    places.give(owner);
  }
}
