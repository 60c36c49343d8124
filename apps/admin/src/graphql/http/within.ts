import { AppError } from '@postrider/core';

const MAX_MS = 15_000;

/**
 * Returns the result, or null after the timeout. A stream is not cut off: its response resolves as soon as it starts.
 */
export async function within<T>(work: T | Promise<T>): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  const patience = setTimeout(() => resolve(null), MAX_MS);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(patience);
  }
}

export function tooSlow(): AppError {
  return new AppError('unexpected', `The response took longer than ${MAX_MS / 1000} s. Request less data.`);
}
