import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { repeatEvery } from './repeat-task.ts';

const world = await openWorld();

describe('a repeating task', () => {
  it('runs again after each run, even a failed run, and never concurrently with itself', async () => {
    let running = 0;
    let runs = 0;
    const enough = Promise.withResolvers<void>();
    const task = repeatEvery(
      1,
      async () => {
        running += 1;
        expect(running).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        runs += 1;
        if (runs === 5) enough.resolve();
        if (runs % 2 === 0) throw new Error('this run fails');
      },
      world.services,
    );

    await enough.promise;
    await task.stop();

    expect(running).toBe(0);
    expect(world.logged.filter((line) => line.level === 50).length).toBeGreaterThanOrEqual(2);
  });

  it('finishes its current run before a stop completes, and does not run again', async () => {
    let runs = 0;
    const start = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const task = repeatEvery(
      1,
      async () => {
        runs += 1;
        start.resolve();
        await gate.promise;
      },
      world.services,
    );
    await start.promise;
    let stopped = false;

    const stopping = task.stop().then(() => {
      stopped = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(stopped).toBe(false);
    gate.resolve();
    await stopping;

    expect(runs).toBe(1);
  });
});
