import { expect, it } from 'vitest';
import { spanOf } from './ranges.ts';

it('yesterday is the calendar day before, and other ranges end with the current bucket', () => {
  const now_ms = Date.UTC(2030, 2, 1, 12, 34, 56);

  expect(spanOf('yesterday', now_ms, true)).toEqual({
    since: '2030-02-28T00:00:00.000Z',
    until: '2030-03-01T00:00:00.000Z',
  });
  expect(spanOf('hour', now_ms, true)).toEqual({ since: '2030-03-01T11:35:00.000Z' });
  expect(spanOf('day', now_ms, true)).toEqual({ since: '2030-02-28T13:00:00.000Z' });
});
