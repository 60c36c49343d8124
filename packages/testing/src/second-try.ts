import { afterAll, beforeAll, beforeEach } from 'vitest';

/**
 * A fixture shared by all tests of a file, opened before the first and closed after the last. A retried test gets a new
 * one, so that it does not depend on what its first try left.
 */
export function sharedByTests(open: () => Promise<unknown>, close: () => Promise<unknown>): void {
  beforeAll(async () => {
    await open();
  });
  beforeEach(async ({ task }) => {
    const { retryCount = 0, repeatCount = 0 } = task.result ?? {};
    if (retryCount + repeatCount === 0) return;
    await close();
    await open();
  });
  afterAll(async () => {
    await close();
  });
}
