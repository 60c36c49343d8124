import type { Claimed } from '@postrider/core/delivery';
import { describe, expect, it } from 'vitest';
import { createMakeAhead } from './make-ahead.ts';

function mails(count: number, large = false): { readonly made: number[]; readonly list: Claimed[] } {
  const made: number[] = [];
  const list = Array.from({ length: count }, (_, index) => {
    const raw = async () => {
      made.push(index);
      return Buffer.from(String(index));
    };
    // The keeper reads nothing else of a claimed mail.
    return { content: { large, raw } } as unknown as Claimed;
  });
  return { made, list };
}

describe('mails that wait for their place', () => {
  it('are made in order, so many ahead, and the next as one is taken', async () => {
    const { made, list } = mails(5);
    const ahead = createMakeAhead(2);
    for (const mail of list) ahead.add(mail);
    expect(made).toEqual([0, 1]);

    const [first, , third] = list;
    if (!first || !third) throw new Error('five were made');
    expect(String(await ahead.take(first))).toBe('0');
    expect(made).toEqual([0, 1, 2]);
    ahead.take(third);
    expect(made).toEqual([0, 1, 2, 3]);
  });

  it('that are taken before their turn are not made, and large ones never ahead', () => {
    const { made, list } = mails(3);
    const ahead = createMakeAhead(1);
    for (const mail of list) ahead.add(mail);
    const [, second] = list;
    if (!second) throw new Error('three were made');
    expect(ahead.take(second)).toBeNull();
    expect(made).toEqual([0]);

    const big = mails(1, true);
    for (const mail of big.list) createMakeAhead(1).add(mail);
    expect(big.made).toEqual([]);
  });
});
