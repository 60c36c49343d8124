import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { issueFor, parseInput } from './parse-input.ts';

const schema = z.object({
  name: z.string(),
  count: z.int().optional(),
  inner: z.object({ list: z.array(z.string()) }).optional(),
  pairs: z.record(z.string(), z.string()).optional(),
  chosen: z
    .string()
    .superRefine((text, context) => {
      if (text === 'bad') context.addIssue(issueFor('invalid_domain', 'chosen is bad.'));
    })
    .optional(),
});

const detailsOf = (raw: unknown) => {
  const parsed = parseInput(schema, raw);
  return parsed.ok ? [] : (parsed.error.facts.details ?? []);
};

describe('parseInput', () => {
  it('gives what the schema makes of a good input, without unknown fields', () => {
    expect(parseInput(schema, { name: 'x', other: 1 })).toEqual({ ok: true, value: { name: 'x' } });
  });

  it.each<[unknown, string, string, string]>([
    [undefined, '', 'missing_field', 'The body is required; add it.'],
    [null, '', 'invalid_type', 'The body must be an object.'],
    [[], '', 'invalid_type', 'The body must be an object.'],
    [{}, 'name', 'missing_field', 'name is required; add it.'],
    [{ name: undefined }, 'name', 'missing_field', 'name is required; add it.'],
    [{ name: null }, 'name', 'invalid_type', 'name must be a string.'],
    [{ name: 'x', inner: {} }, 'inner.list', 'missing_field', 'inner.list is required; add it.'],
    [{ name: 'x', inner: { list: ['a', 5] } }, 'inner.list[1]', 'invalid_type', 'inner.list[1] must be a string.'],
    [{ name: 'x', pairs: [] }, 'pairs', 'invalid_type', 'pairs must be an object.'],
    [{ name: 'x', pairs: { a: 5 } }, 'pairs.a', 'invalid_type', 'pairs.a must be a string.'],
    [{ name: 'x', chosen: 'bad' }, 'chosen', 'invalid_domain', 'chosen is bad.'],
    [{ name: 'x', cuont: 1 }, 'cuont', 'misspelled_field', 'cuont is not a field; did you mean count?'],
  ])('says of %j what is wrong and where', (raw, param, reason, message) => {
    expect(detailsOf(raw)).toEqual([{ param, reason, message }]);
  });

  it('takes a near miss for an unknown field where the right one is there too', () => {
    expect(detailsOf({ name: 'x', names: 'y' })).toEqual([]);
  });

  it('lists every mistake, misspelt names first, and heads the error with the first', () => {
    const parsed = parseInput(schema, { nmae: 'x', count: 'y', pairs: 5 });

    expect(parsed).toMatchObject({
      ok: false,
      error: {
        code: 'invalid_request',
        reason: 'misspelled_field',
        message: 'nmae is not a field; did you mean name? (3 more in details)',
        facts: { details: [{ param: 'nmae' }, { param: 'name' }, { param: 'count' }, { param: 'pairs' }] },
      },
    });
  });

  it.each<[string, string]>([
    ['{"name":"a\\u0000b"}', 'name'],
    ['{"name":"\\ud800"}', 'name'],
    ['{"name":"x","y":{"z":["\\udfff"]}}', 'y.z[0]'],
    ['{"name":"x","a\\u0000":1}', 'a\0'],
    ['{"name":"x","__proto__":{}}', '__proto__'],
    ['{"name":"x","y":[{"__proto__":1}]}', 'y[0].__proto__'],
  ])('refuses %s even where the schema would not look', (text, param) => {
    expect(detailsOf(JSON.parse(text))).toMatchObject([{ param, reason: 'invalid_type' }]);
  });

  it('refuses nesting below 32 levels and takes what lies above', () => {
    const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

    expect(detailsOf({ name: 'x', y: nested(31) })).toEqual([]);
    expect(detailsOf({ name: 'x', y: nested(32) })).toMatchObject([{ reason: 'invalid_type' }]);
    expect(detailsOf({ name: 'x', y: nested(100_000) })).toMatchObject([{ reason: 'invalid_type' }]);
  });

  it('gives up past 50,000 values', () => {
    expect(detailsOf({ name: 'x', y: Array(49_998).fill(0) })).toEqual([]);
    expect(detailsOf({ name: 'x', y: Array(49_999).fill(0) })).toMatchObject([
      { message: 'The body holds more than 50000 values.' },
    ]);
  });

  it('answers any JSON value, and every refusal has a reason and a message', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (value, inside) => {
        const parsed = parseInput(
          schema,
          inside ? { name: 'x', inner: value, pairs: value, [JSON.stringify(value)]: 1 } : value,
        );
        if (parsed.ok) return;
        for (const { reason, message } of parsed.error.facts.details ?? []) {
          expect(reason).toMatch(/^(invalid_type|missing_field|misspelled_field)$/);
          expect(message).toMatch(/^\S[\s\S]*[.?]$/);
        }
      }),
    );
  });
});
