import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { collectStartup } from './collect-startup.ts';

it('the collection after the start frees what nothing refers to', async () => {
  const garbage = new WeakRef({ of: 'the start' });
  // A target stays alive until the job that made its reference ends.
  await setImmediate();

  collectStartup();

  expect(garbage.deref()).toBeUndefined();
});
