import { expect, it } from 'vitest';
import { createSemaphore } from './semaphore.ts';

it('a semaphore runs up to its limit, the others in order, and frees a place after a failure too', async () => {
  const slot = createSemaphore(2);
  const begun: number[] = [];
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const runs = gates.map((gate, index) =>
    slot(new AbortController().signal, async () => {
      begun.push(index);
      await gate.promise;
      if (index === 0) throw new Error('failed');
      return index;
    }).catch((error: Error) => error.message),
  );

  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  gates[0]?.resolve();
  await runs[0];
  await Promise.resolve();
  expect(begun).toEqual([0, 1, 2]);
  for (const gate of gates) gate.resolve();

  expect(await Promise.all(runs)).toEqual(['failed', 1, 2, 3, 4]);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
});

it('a semaphore drops what is aborted before its turn, and the next takes the place', async () => {
  const slot = createSemaphore(1);
  const gate = Promise.withResolvers<void>();
  const stop = new AbortController();
  const first = slot(new AbortController().signal, () => gate.promise);
  const aborted = slot(stop.signal, async () => 'aborted');
  const last = slot(new AbortController().signal, async () => 'last');

  stop.abort();

  expect(await aborted).toBeNull();
  gate.resolve();
  await first;
  expect(await last).toBe('last');
  expect(await slot(stop.signal, async () => 'late')).toBeNull();
});
