import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AppError } from '../operation/errors.ts';
import { parseInput } from '../operation/parse-input.ts';
import { pageFields, pageOf, readCursor, writeCursor } from './list.ts';

const scope = {
  secret_key: 'k'.repeat(64),
  list: 'email.logs',
  workspace_id: 'wsp_a',
  filters: { status: ['queued'] },
};

const refusalOf = (run: () => unknown): string => {
  try {
    return `accepted ${run()}`;
  } catch (error) {
    return error instanceof AppError ? error.reason : 'crashed';
  }
};

describe('a cursor', () => {
  it('decodes to the same position that was encoded', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (position) => {
        expect(readCursor(scope, writeCursor(scope, position))).toBe(position);
      }),
    );
  });

  it('is absent on the first page', () => {
    expect(readCursor(scope, undefined)).toBeNull();
  });

  it.each([
    ['another secret', { ...scope, secret_key: 'x'.repeat(64) }],
    ['another list', { ...scope, list: 'api_keys' }],
    ['another workspace', { ...scope, workspace_id: 'wsp_b' }],
    ['another filter', { ...scope, filters: { status: ['sending'] } }],
    ['no filter', { ...scope, filters: {} }],
  ])('is rejected when used with %s', (_, other) => {
    expect(refusalOf(() => readCursor(other, writeCursor(scope, 'msg_1')))).toBe('invalid_cursor');
  });

  it('is rejected after any modification', () => {
    const cursor = writeCursor(scope, 'msg_01m7ycdew89v5p9ewpbkvvks5v');
    fc.assert(
      fc.property(fc.nat(cursor.length - 1), fc.constantFrom(...'Ab9-_!= '), (at, put) => {
        for (const changed of [
          cursor.slice(0, at) + put + cursor.slice(at + 1),
          cursor.slice(0, at) + put + cursor.slice(at),
          cursor.slice(0, at),
        ]) {
          if (changed !== cursor) expect(refusalOf(() => readCursor(scope, changed))).toBe('invalid_cursor');
        }
      }),
    );
  });

  it('is rejected without a crash if it is arbitrary text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(refusalOf(() => readCursor(scope, text))).toBe('invalid_cursor');
      }),
    );
  });
});

describe('the limit parameter', () => {
  const limitOf = (limit: unknown) => {
    const parsed = parseInput(z.object(pageFields), { limit });
    return parsed.ok ? parsed.value.limit : parsed.error.reason;
  };

  it.each([
    [undefined, 20],
    [1, 1],
    [100, 100],
    ['1', 1],
    ['100', 100],
  ])('is read from %j as %i', (value, limit) => {
    expect(limitOf(value)).toBe(limit);
  });

  it.each([0, 101, -1, 1.5, Number.NaN, 2 ** 53, '0', '101', '', ' 1', '1.0', '1e1', true, null, [], ['5'], {}])(
    'is rejected if it is %j',
    (value) => {
      expect(limitOf(value)).toBe('invalid_limit');
    },
  );

  it('is documented as a whole number with its bounds and default', () => {
    const { properties } = z.toJSONSchema(z.object(pageFields), { io: 'input' });

    expect(properties).toMatchObject({
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      cursor: { type: 'string' },
    });
  });
});

describe('pageOf', () => {
  const rows = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `msg_${9 - index}` }));
  const entry = ({ id }: { id: string }) => id;

  it('returns a cursor after its last row if there is one more row than requested', () => {
    const page = pageOf(scope, rows(4), 3, entry);

    expect(page).toMatchObject({ object: 'list', data: ['msg_9', 'msg_8', 'msg_7'], has_more: true });
    expect(readCursor(scope, page.next_cursor ?? '')).toBe('msg_7');
  });

  it.each([0, 1, 3])('returns no cursor for %i rows when the page size is 3', (count) => {
    expect(pageOf(scope, rows(count), 3, entry)).toMatchObject({ has_more: false, next_cursor: null });
  });
});
