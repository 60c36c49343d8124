import { expect, it } from 'vitest';
import { keepHeapSmallAtRest } from './idle-heap.ts';

it('collects what a start has left behind once the process is at rest', async () => {
  const left = new WeakRef({ by: 'the start' });
  expect(left.deref()).toBeDefined();

  keepHeapSmallAtRest({ look_every_ms: 50 });

  await expect.poll(() => left.deref() === undefined).toBe(true);
});
