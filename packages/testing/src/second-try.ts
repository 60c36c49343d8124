import { afterAll, beforeAll, beforeEach } from 'vitest';

/**
 * For what all tests of a file share: opened before the first and closed after the last. A test that is tried a second
 * time gets it anew, so that it does not stumble over what its first try left there.
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
