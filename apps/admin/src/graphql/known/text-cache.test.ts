import { expect, it } from 'vitest';
import { textCache } from './text-cache.ts';

it('fairness P30: the GraphQL document cache is limited by total text length', () => {
  const cache = textCache<object>();

  for (let count = 0; count < 2200; count++) cache.set(`${count} ${'x'.repeat(9000)}`, {});
  cache.set('x'.repeat(95_000), {});

  expect(cache.calculatedSize).toBeLessThanOrEqual(2 * 1024 * 1024);
  expect(cache.has(`2199 ${'x'.repeat(9000)}`)).toBe(true);
  expect(cache.has(`0 ${'x'.repeat(9000)}`)).toBe(false);
  expect(cache.has('x'.repeat(95_000))).toBe(false);
});
