import { beforeEach, describe, expect, it } from 'vitest';
import { type CommitPace, createCommitPace } from './commit-pace.ts';

let pace: CommitPace;
beforeEach(() => {
  pace = createCommitPace(2);
});

/** Commits one after another that carry this many and take this long. */
function passed(commits: number, size: number, took_ms: number): number {
  for (let index = 0; index < commits; index++) {
    pace.begun(size, index * took_ms);
    pace.ended(index * took_ms, (index + 1) * took_ms);
  }
  return commits * took_ms;
}

describe('with no commit under way', () => {
  it('a lone request goes at the end of the turn in which it came', () => {
    expect(pace.urgent(1, 0)).toBe(false);
    expect(pace.worthwhile(1, 0)).toBe(true);
  });

  it('twenty go in the middle of a turn', () => {
    expect(pace.urgent(19, 0)).toBe(false);
    expect(pace.urgent(20, 0)).toBe(true);
  });
});

describe('with one under way', () => {
  it('the next begins with as many as that one carries', () => {
    pace.begun(12, 0);

    expect(pace.worthwhile(11, 1)).toBe(false);
    expect(pace.worthwhile(12, 1)).toBe(true);
  });

  it('twenty wait until most of the time has passed that those before it took', () => {
    const now = passed(5, 32, 4);
    pace.begun(32, now);

    expect(pace.urgent(20, now + 2.7)).toBe(false);
    expect(pace.urgent(20, now + 2.9)).toBe(true);
    expect(pace.urgent(19, now + 2.9)).toBe(false);
  });

  it('a slow disk lets more gather', () => {
    const now = passed(5, 32, 8);
    pace.begun(32, now);

    expect(pace.urgent(20, now + 5.5)).toBe(false);
    expect(pace.urgent(20, now + 5.7)).toBe(true);
  });

  it('one that hangs holds nobody back', () => {
    pace.begun(32, 0);

    expect(pace.worthwhile(1, 24)).toBe(false);
    expect(pace.worthwhile(1, 25)).toBe(true);
  });
});

describe('with as many under way as may be', () => {
  it('no other begins, however many wait', () => {
    pace.begun(32, 0);
    pace.begun(20, 2);

    expect(pace.urgent(64, 10)).toBe(false);
    expect(pace.worthwhile(64, 10)).toBe(false);
  });

  it('the time of the second counts from the end of the first', () => {
    const now = passed(5, 32, 4);
    pace.begun(32, now);
    pace.begun(32, now + 2);
    pace.ended(now, now + 4);

    expect(pace.urgent(20, now + 6.7)).toBe(false);
    expect(pace.urgent(20, now + 6.9)).toBe(true);
  });

  it('what it waited for the first is no part of its own time', () => {
    const now = passed(5, 32, 4);
    pace.begun(32, now);
    pace.begun(32, now + 2);
    pace.ended(now, now + 4);
    pace.ended(now + 2, now + 8);
    pace.begun(32, now + 8);

    expect(pace.urgent(20, now + 10.7)).toBe(false);
    expect(pace.urgent(20, now + 10.9)).toBe(true);
  });

  it('the time of one that passes another that hangs counts from its own beginning', () => {
    const now = passed(5, 32, 4);
    pace.begun(32, now);
    pace.begun(32, now + 100);
    pace.ended(now + 100, now + 104);

    expect(pace.urgent(20, now + 106.7)).toBe(false);
    expect(pace.urgent(20, now + 106.9)).toBe(true);
  });

  it('another begins beside them when they hang', () => {
    pace.begun(32, 0);
    pace.begun(20, 2);

    expect(pace.worthwhile(1, 26)).toBe(false);
    expect(pace.worthwhile(1, 27)).toBe(true);
  });
});
