import { beforeEach, describe, expect, it } from 'vitest';
import { type BatchingPolicy, createBatchingPolicy } from './batching-policy.ts';

let max: number;
let unrecorded: number;
let pace: BatchingPolicy;
beforeEach(() => {
  max = 600;
  unrecorded = Number.POSITIVE_INFINITY;
  pace = createBatchingPolicy(
    () => max,
    () => unrecorded,
  );
});

/** Runs a settle of this size that ends with no results waiting. */
function passed(size: number): void {
  pace.begun(size);
  pace.ended(0);
}

describe('batching at a low rate of results', () => {
  it.each([
    [1, 15],
    [199, 15],
    [200, 0],
  ])('%i results wait for %i ms', (waiting, ms) => {
    expect(pace.came(waiting)).toBe(ms);

    passed(23);
    expect(pace.came(waiting)).toBe(ms);
  });

  it.each([1, 99, 199])(
    '%i results received during the previous commit are recorded next or concurrently',
    (waiting) => {
      pace.begun(23);

      expect(pace.came(waiting)).toBe(15);
      expect(pace.ended(waiting)).toBe(0);
    },
  );
});

describe('batching during a burst of results', () => {
  it.each([
    [1, 50],
    [99, 50],
    [100, 0],
  ])('%i results wait for %i ms', (waiting, ms) => {
    passed(24);

    expect(pace.came(waiting)).toBe(ms);
  });

  it.each([
    [1, 50],
    [99, 50],
    [100, 0],
  ])('%i results received during the previous commit wait for %i ms more', (waiting, ms) => {
    pace.begun(24);

    expect(pace.came(waiting)).toBe(ms);
    expect(pace.ended(waiting)).toBe(ms);
  });

  it('a batch of 23 ends the burst', () => {
    passed(24);
    passed(23);

    expect(pace.came(1)).toBe(15);
    expect(pace.came(100)).toBe(15);
  });
});

describe('batching while two batches are being recorded', () => {
  it.each([1, 24])('200 results do not wait longer after batches of %i', (size) => {
    pace.begun(size);
    pace.begun(size);

    expect(pace.came(199)).toBeNull();
    expect(pace.came(200)).toBe(0);
  });

  it('the next batch starts when one of the two ends', () => {
    pace.begun(200);
    pace.begun(200);
    pace.ended(0);

    expect(pace.came(99)).toBe(50);
    expect(pace.came(100)).toBe(0);
  });

  it('the end of a batch starts no wait if no result has arrived', () => {
    pace.begun(23);

    expect(pace.ended(0)).toBeNull();
  });
});

describe('batching with a low limit on unrecorded results', () => {
  it('a batch waits for at most half of the limit, during a burst or not', () => {
    unrecorded = 8;

    expect(pace.came(3)).toBe(15);
    expect(pace.came(4)).toBe(0);
    passed(24);
    expect(pace.came(3)).toBe(50);
    expect(pace.came(4)).toBe(0);
  });
});

describe('batching with a low limit on concurrent deliveries', () => {
  it('a batch waits for at most half of the limit during a burst', () => {
    max = 60;
    passed(24);

    expect(pace.came(29)).toBe(50);
    expect(pace.came(30)).toBe(0);
    pace.begun(30);
    expect(pace.ended(29)).toBe(50);
    pace.begun(30);
    expect(pace.ended(30)).toBe(0);
  });

  it.each([
    [4, 15],
    [5, 50],
  ])('a limit of ten makes the next result after a batch of %i wait for %i ms', (size, ms) => {
    max = 10;
    passed(size);

    expect(pace.came(1)).toBe(ms);
  });

  it('a changed limit takes effect immediately', () => {
    passed(24);
    expect(pace.came(50)).toBe(50);

    max = 100;

    expect(pace.came(50)).toBe(0);
  });
});
