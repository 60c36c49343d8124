import type { Content } from '@postrider/core/delivery';
import { describe, expect, it } from 'vitest';
import { createPrerender } from './prerender.ts';

function contents(count: number, large = false): { readonly made: number[]; readonly list: Content[] } {
  const order: number[] = [];
  const list = Array.from({ length: count }, (_, index) => ({
    large,
    raw: async () => {
      order.push(index);
      return Buffer.from(String(index));
    },
  }));
  return { made: order, list };
}

describe('email waiting for its turn to be sent', () => {
  it('is rendered in order, a limited number ahead, with one more each time an email is taken', async () => {
    const { made: order, list } = contents(5);
    const [first, , third] = list.map(createPrerender(2));
    expect(order).toEqual([0, 1]);

    expect(String(await first?.take())).toBe('0');
    expect(order).toEqual([0, 1, 2]);
    void third?.take();
    expect(order).toEqual([0, 1, 2, 3]);
  });

  it('makes room only once, however often it is taken', () => {
    const { made: order, list } = contents(5);
    const [first] = list.map(createPrerender(2));

    void first?.take();
    expect(first?.take()).toBeNull();
    expect(order).toEqual([0, 1, 2]);
  });

  it('is not rendered if taken before its turn, or ahead of its turn if it is large', () => {
    const { made: order, list } = contents(3);
    const [, second] = list.map(createPrerender(1));
    expect(second?.take()).toBeNull();
    expect(order).toEqual([0]);

    const big = contents(1, true);
    big.list.map(createPrerender(1));
    expect(big.made).toEqual([]);
  });
});
