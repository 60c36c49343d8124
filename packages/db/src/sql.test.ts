import { describe, expectTypeOf, it } from 'vitest';
import type { Fragment, Query, Sql, Tx } from './sql.ts';

describe('an SQL statement', () => {
  it('has no cancel or cursor method, whether from a pool or in a transaction', () => {
    expectTypeOf<Query<[]>>().not.toHaveProperty('cancel');
    expectTypeOf<Query<[]>>().not.toHaveProperty('cursor');
    expectTypeOf<ReturnType<Sql['unsafe']>>().not.toHaveProperty('cancel');
    expectTypeOf<ReturnType<Tx['unsafe']>>().not.toHaveProperty('cursor');
    expectTypeOf<Sql>().not.toHaveProperty('largeObject');
  });

  it('can be embedded in another statement', () => {
    expectTypeOf<Query<[]>>().toExtend<Fragment>();
    expectTypeOf<Promise<[]>>().not.toExtend<Fragment>();
  });
});
