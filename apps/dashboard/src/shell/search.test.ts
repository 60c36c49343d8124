import { expect, test } from 'vitest';
import { flag, number, oneOf, searchOf, text } from './search.ts';

test('valid search parameters are preserved', () => {
  const validate = searchOf({ open: oneOf('new', 'edit'), q: text, ended: flag, age: number });

  const read = validate({ open: 'edit', q: 'to:ada', ended: true, age: 0 });

  expect(read).toStrictEqual({ open: 'edit', q: 'to:ada', ended: true, age: 0 });
});

test('unknown or invalid search parameters are dropped', () => {
  const validate = searchOf({ open: oneOf('new', 'edit'), q: text, ended: flag, age: number });

  const read = validate({ open: 'gone', q: '', ended: 'true', age: '3', other: 'x' });

  expect(read).toStrictEqual({});
});
