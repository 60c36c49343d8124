import { describe, expectTypeOf, it } from 'vitest';
import type { Fragment, Query, Sql, Tx } from './sql.ts';

describe('a statement', () => {
  it('has neither cancel nor cursor, of a pool or in a transaction', () => {
    expectTypeOf<Query<[]>>().not.toHaveProperty('cancel');
    expectTypeOf<Query<[]>>().not.toHaveProperty('cursor');
    expectTypeOf<ReturnType<Sql['unsafe']>>().not.toHaveProperty('cancel');
    expectTypeOf<ReturnType<Tx['unsafe']>>().not.toHaveProperty('cursor');
    expectTypeOf<Sql>().not.toHaveProperty('largeObject');
  });

  it('can be a part of another one', () => {
    expectTypeOf<Query<[]>>().toExtend<Fragment>();
    expectTypeOf<Promise<[]>>().not.toExtend<Fragment>();
  });
});
