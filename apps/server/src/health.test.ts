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
  const [askSeparately, askShared] = [await open(), await open()];
  expect(await askSeparately()).toBe('ok');
  const needed = statements;

  const results = await Promise.all(Array.from({ length: 20 }, askShared));

  expect(new Set(results)).toEqual(new Set(['ok']));
  expect(needed).toBeGreaterThan(0);
  expect(statements).toBe(2 * needed);
});
