import { describe, expect, it } from 'vitest';
import { createBodyBudget } from '../src/body-budget.ts';

/** Resolves to whether it has been let in by the time that every promise before it has settled. */
async function isIn(entry: Promise<unknown>): Promise<boolean> {
  return Promise.race([entry.then(() => true), new Promise<false>((resolve) => setImmediate(() => resolve(false)))]);
}

describe('the budget of large bodies', () => {
  it('admits what fits, and the next in the queue on a release', async () => {
    const budget = createBodyBudget(100, 100);
    const first = budget.enter('a', 60);
    const second = budget.enter('b', 60);
    expect([await isIn(first), await isIn(second)]).toEqual([true, false]);

    (await first)();

    expect(await isIn(second)).toBe(true);
  });

  it('limits each sender to its share while others wait', async () => {
    const budget = createBodyBudget(100, 50);
    const own = ['a', 'a', 'a'].map((sender) => budget.enter(sender, 30));
    const other = budget.enter('b', 30);

    expect(await Promise.all(own.map(isIn))).toEqual([true, false, false]);
    expect(await isIn(other)).toBe(true);
  });

  it('lets one in that alone is larger than everything', async () => {
    const budget = createBodyBudget(100, 50);

    expect(await isIn(budget.enter('a', 500))).toBe(true);
    expect(await isIn(budget.enter('b', 10))).toBe(false);
  });

  it('counts a double release once', async () => {
    const budget = createBodyBudget(100, 100);
    const leave = await budget.enter('a', 100);
    leave();
    leave();

    expect(await isIn(budget.enter('b', 100))).toBe(true);
    expect(await isIn(budget.enter('c', 1))).toBe(false);
  });
});
