import { expect, it } from 'vitest';
import { runAll } from './run-all.ts';

it('steps run in order, even after a step fails, and the failures are thrown', async () => {
  const order: string[] = [];
  const fail = (name: string) => async () => {
    order.push(name);
    throw new Error(`${name} broke`);
  };
  const pass = (name: string) => async () => void order.push(name);

  const run = runAll('the stop', [pass('a'), fail('b'), pass('c'), fail('d'), pass('e')]);

  await expect(run).rejects.toThrow('the stop: b broke; d broke');
  expect(order).toEqual(['a', 'b', 'c', 'd', 'e']);
});

it('steps that all succeed log nothing', async () => {
  await expect(runAll('the stop', [async () => 1, async () => undefined])).resolves.toBeUndefined();
});
