import { beforeEach, describe, expect, it } from 'vitest';
import { type BatchingPolicy, createBatchingPolicy } from './batching-policy.ts';

let policy: BatchingPolicy;
beforeEach(() => {
  policy = createBatchingPolicy(2);
});

/** Runs commits of the given size and duration one after another. */
function passed(commits: number, size: number, took_ms: number): number {
  for (let index = 0; index < commits; index++) {
    policy.begun(size, index * took_ms);
    policy.ended(index * took_ms, (index + 1) * took_ms);
  }
  return commits * took_ms;
}

describe('batching without a commit in progress', () => {
  it('commits a lone request at the end of its event loop turn', () => {
    expect(policy.urgent(1, 0)).toBe(false);
    expect(policy.worthwhile(1, 0)).toBe(true);
  });

  it('starts a commit mid-turn once twenty requests are waiting', () => {
    expect(policy.urgent(19, 0)).toBe(false);
    expect(policy.urgent(20, 0)).toBe(true);
  });
});

describe('batching with one commit in progress', () => {
  it('the next commit starts once as many requests are waiting as the current commit contains', () => {
    policy.begun(12, 0);

    expect(policy.worthwhile(11, 1)).toBe(false);
    expect(policy.worthwhile(12, 1)).toBe(true);
  });

  it('twenty requests wait until most of the typical commit duration has passed', () => {
    const now = passed(5, 32, 4);
    policy.begun(32, now);

    expect(policy.urgent(20, now + 2.7)).toBe(false);
    expect(policy.urgent(20, now + 2.9)).toBe(true);
    expect(policy.urgent(19, now + 2.9)).toBe(false);
  });

  it('a slow disk makes batches larger', () => {
    const now = passed(5, 32, 8);
    policy.begun(32, now);

    expect(policy.urgent(20, now + 5.5)).toBe(false);
    expect(policy.urgent(20, now + 5.7)).toBe(true);
  });

  it('a commit that hangs delays other requests by 25 ms', () => {
    policy.begun(32, 0);

    expect(policy.worthwhile(1, 24)).toBe(false);
    expect(policy.worthwhile(1, 25)).toBe(true);
  });
});

describe('the maximum number of concurrent commits', () => {
  it('no further commit starts, however many requests are waiting', () => {
    policy.begun(32, 0);
    policy.begun(20, 2);

    expect(policy.urgent(64, 10)).toBe(false);
    expect(policy.worthwhile(64, 10)).toBe(false);
  });

  it('the second commit’s duration is measured from the end of the first', () => {
    const now = passed(5, 32, 4);
    policy.begun(32, now);
    policy.begun(32, now + 2);
    policy.ended(now, now + 4);

    expect(policy.urgent(20, now + 6.7)).toBe(false);
    expect(policy.urgent(20, now + 6.9)).toBe(true);
  });

  it('time spent waiting for the first commit is not included in the second commit’s duration', () => {
    const now = passed(5, 32, 4);
    policy.begun(32, now);
    policy.begun(32, now + 2);
    policy.ended(now, now + 4);
    policy.ended(now + 2, now + 8);
    policy.begun(32, now + 8);

    expect(policy.urgent(20, now + 10.7)).toBe(false);
    expect(policy.urgent(20, now + 10.9)).toBe(true);
  });

  it('the duration of a commit that overtakes a hanging commit is measured from its own start', () => {
    const now = passed(5, 32, 4);
    policy.begun(32, now);
    policy.begun(32, now + 100);
    policy.ended(now + 100, now + 104);

    expect(policy.urgent(20, now + 106.7)).toBe(false);
    expect(policy.urgent(20, now + 106.9)).toBe(true);
  });

  it('a further commit starts if all current commits hang', () => {
    policy.begun(32, 0);
    policy.begun(20, 2);

    expect(policy.worthwhile(1, 26)).toBe(false);
    expect(policy.worthwhile(1, 27)).toBe(true);
  });
});
