import { listenHttp } from '@postrider/testing';
import { endAfterTests, openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { createHealthHandler } from './health.ts';

const world = await openWorld();

it('fairness N9: /readyz queries the database only once for all requests within a second', async () => {
  let statements = 0;
  const sql = new Proxy(world.services.sql, {
    apply(target, self, parameters) {
      statements += 1;
      return Reflect.apply(target, self, parameters);
    },
  });
  const open = async () => {
    const handler = createHealthHandler({ ...world.services, sql }, new Set(world.services.config.ROLES));
    const { port } = endAfterTests(await listenHttp(handler));
    return async () => {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`);
      return ((await response.json()) as { readonly database: string }).database;
    };
  };
  /** Returns the number of statements once the judgement in the background has ended. */
  const settled = async () => {
    let last = -1;
    const isStable = () => {
      const stable = statements === last;
      last = statements;
      return stable;
    };
    await expect.poll(isStable, { interval: 300 }).toBe(true);
    return statements;
  };
  const [askSeparately, askShared] = [await open(), await open()];
  expect(await askSeparately()).toBe('ok');
  const needed = await settled();

  const results = await Promise.all(Array.from({ length: 20 }, askShared));

  expect(new Set(results)).toEqual(new Set(['ok']));
  expect(needed).toBeGreaterThan(0);
  expect(await settled()).toBe(2 * needed);
});
