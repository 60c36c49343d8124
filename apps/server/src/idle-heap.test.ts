import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { createRestWatch, fullCollection } from './idle-heap.ts';

const MINUTE_MS = 60_000;

describe('a process at rest', () => {
  let isTime: (utilization: number, now_ms: number, collections?: number) => boolean;
  beforeEach(() => {
    const watch = createRestWatch();
    isTime = (utilization, now_ms, collections = 0) => watch({ utilization, collections }, now_ms);
  });

  it('collects once after its start', () => {
    expect([0, 10_000, 20_000].map((at) => isTime(0.01, at))).toEqual([true, false, false]);
  });

  it('does not while there is some work', () => {
    expect(isTime(0.03, 0)).toBe(false);
    expect(isTime(0.19, 10_000)).toBe(false);
    expect(isTime(0.02, 20_000)).toBe(true);
  });

  it('does not while few mails leave garbage, however little of the time they take', () => {
    expect([isTime(0.01, 0, 2), isTime(0.01, 10_000, 1), isTime(0.01, 20_000, 0)]).toEqual([false, false, true]);
  });

  it('collects again after a rush, and not after a little work', () => {
    isTime(0.01, 0);

    expect([isTime(0.19, 6 * MINUTE_MS), isTime(0.01, 7 * MINUTE_MS)]).toEqual([false, false]);
    expect([isTime(0.21, 8 * MINUTE_MS), isTime(0.01, 9 * MINUTE_MS)]).toEqual([false, true]);
  });

  it('collects every five minutes at most', () => {
    isTime(0.01, 0);
    isTime(0.9, MINUTE_MS);

    expect([isTime(0.01, 5 * MINUTE_MS), isTime(0.01, 5 * MINUTE_MS + 1)]).toEqual([false, true]);
  });
});

it('collects what nobody holds any more', async () => {
  const left = new WeakRef({ by: 'the start' });
  // A WeakRef holds on until the turn in which it was made has ended.
  await delay(0);

  fullCollection()();

  expect(left.deref()).toBeUndefined();
});
