import { describe, expect, it } from 'vitest';
import { answerOf } from './answer.ts';

const group = (reason: string, count: number) => ({ reason, count });
const many = Array.from({ length: 50 }, (_, index) => group(`reason_${index}`, 2));

describe('the result message on the Logs page', () => {
  it.each([
    ['all were counted', { exact: true, data: [group('a', 2), group('b', 1)] }, '3 requests rejected'],
    ['one was', { exact: true, data: [group('a', 1)] }, '1 request rejected'],
    ['more than were counted', { exact: false, data: [group('a', 10_000)] }, 'At least 10,000 requests rejected'],
    ['more groups than are answered', { exact: true, data: many }, 'At least 100 requests rejected'],
  ])('shows the number of rejected requests: %s', (_, groups, begins) => {
    expect(answerOf(groups).startsWith(begins)).toBe(true);
  });

  it('reports that there were no rejected requests', () => {
    expect(answerOf({ exact: true, data: [] })).toBe('No rejected requests in the last 24 hours.');
  });
});
