import { expect, it } from 'vitest';
import { leaseEnd, leaseLost } from './leases.ts';

const MINUTE_MS = 60_000;

it.each([
  [
    'a lease that was asked for 25 s ago is lost',
    { lease_ends: leaseEnd(MINUTE_MS - 25_000), has_result: false },
    true,
  ],
  ['a lease that was asked for long ago is lost', { lease_ends: leaseEnd(0), has_result: false }, true],
  ['a lease with a moment left is not', { lease_ends: leaseEnd(MINUTE_MS - 24_999), has_result: false }, false],
  ['a lease that was asked for just now is not', { lease_ends: leaseEnd(MINUTE_MS), has_result: false }, false],
  ['what is sent needs none', { lease_ends: leaseEnd(0), has_result: true }, false],
])('%s', (_, entry, expected) => {
  expect(leaseLost([entry], MINUTE_MS)).toEqual(expected ? [entry] : []);
});

it('a lookup finds each of many leases, and no others', () => {
  const lapsed = [0, 1, 2].map((lease_ends) => ({ lease_ends, has_result: false }));
  const others = [3, 4].map((lease_ends) => ({ lease_ends, has_result: false }));

  expect(leaseLost(new Set([...others, ...lapsed]), 2)).toEqual(lapsed);
});
