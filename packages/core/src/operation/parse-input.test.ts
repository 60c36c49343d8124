import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { issueFor, parseInput } from './parse-input.ts';
import { refuseMisplaced } from './unexpected-names.ts';

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
  shade: z.enum(['light', 'dark']).optional(),
  fixed: z.literal('whole').optional(),
  limited: z.int().min(1).max(1000).optional(),
  short: z.string().min(1).max(3).optional(),
  few: z.array(z.string()).min(1).max(2).optional(),
  address: z.url().optional(),
  strict: z.strictObject({ known: z.string().optional() }).optional(),
  named: z.record(z.string().max(3), z.string()).optional(),
});

const detailsOf = (raw: unknown) => {
  const parsed = parseInput(schema, raw);
  return parsed.ok ? [] : (parsed.error.facts.details ?? []);
};

describe('parseInput', () => {
  it('returns the parsed value of valid input, without unknown fields', () => {
    expect(parseInput(schema, { name: 'x', other: 1 })).toEqual({ ok: true, value: { name: 'x' }, ignored: ['other'] });
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
    [{ name: 'x', count: 1.5 }, 'count', 'invalid_type', 'count must be a whole number.'],
    [{ name: 'x', shade: 'pale' }, 'shade', 'invalid_type', 'shade must be one of light, dark.'],
    [{ name: 'x', fixed: 'part' }, 'fixed', 'invalid_type', 'fixed must be whole.'],
    [{ name: 'x', limited: 1001 }, 'limited', 'invalid_type', 'limited must be at most 1000.'],
    [{ name: 'x', limited: 0 }, 'limited', 'invalid_type', 'limited must be at least 1.'],
    [{ name: 'x', short: 'long' }, 'short', 'invalid_type', 'short must be at most 3 characters long.'],
    [{ name: 'x', short: '' }, 'short', 'invalid_type', 'short must not be empty.'],
    [{ name: 'x', few: ['a', 'b', 'c'] }, 'few', 'invalid_type', 'few must hold at most 2 entries.'],
    [{ name: 'x', few: [] }, 'few', 'invalid_type', 'few must not be empty.'],
    [
      { name: 'x', address: 'x' },
      'address',
      'invalid_type',
      'address must be a whole address such as https://example.com.',
    ],
    [
      { name: 'x', strict: { knwon: '1' } },
      'strict.knwon',
      'misspelled_field',
      'strict.knwon is not a field; did you mean strict.known?',
    ],
    [{ name: 'x', strict: { a: 1 } }, 'strict', 'invalid_type', 'strict has the unknown field a; remove it.'],
    [
      { name: 'x', strict: { a: 1, b: 1 } },
      'strict',
      'invalid_type',
      'strict has the unknown fields a, b; remove them.',
    ],
    [
      { name: 'x', named: { long: '' } },
      'named.long',
      'invalid_type',
      'named.long has a name that does not fit: it must be at most 3 characters long.',
    ],
  ])('reports the mistake in %j and its location', (raw, param, reason, message) => {
    expect(detailsOf(raw)).toEqual([{ param, reason, message }]);
  });

  it('refers to the body if an unknown field is at the top level', () => {
    const parsed = parseInput(z.strictObject({ tag: z.string().optional() }), { queue: 'mail' });

    expect(parsed).toMatchObject({ error: { message: 'The body has the unknown field queue; remove it.' } });
  });

  it('rejects each unknown or misspelled field in a strict object once', () => {
    const parsed = parseInput(schema, { name: 'x', strict: { other: 1, knwon: '1' } });

    expect(parsed).toMatchObject({ ok: false, ignored: [] });
    expect(parsed.ok ? [] : parsed.error.facts.details?.map(({ reason }) => reason)).toEqual([
      'misspelled_field',
      'invalid_type',
    ]);
  });

  it('lists ignored fields by path, including fields in lists and alongside rejected fields', () => {
    const listed = z.object({ entries: z.array(z.object({ name: z.string() })).optional(), any: z.unknown() });
    const raw = { entries: [{ name: 'a', hue: 1 }, { name: 'b' }], any: { x: 1 }, 'x y': 1 };

    expect(parseInput(listed, raw).ignored).toEqual(['x y', 'entries[0].hue']);
    expect(parseInput(listed, { ...raw, entries: [{ hue: 1 }] })).toMatchObject({
      ok: false,
      ignored: ['x y', 'entries[0].hue'],
    });
    expect(parseInput(listed, { any: 1, entries: [{ Name: 'b' }] })).toMatchObject({
      error: { facts: { details: [{ param: 'entries[0].Name', reason: 'misspelled_field' }, {}] } },
    });
  });

  it('rejects a misplaced field and suggests where it belongs, at the top level only', () => {
    const send = refuseMisplaced(z.object({ name: z.string() }), { later: 'later is a parameter of the query.' });

    expect(parseInput(send, { name: 'x', later: null })).toMatchObject({
      error: { reason: 'misplaced_field', message: 'later is a parameter of the query.' },
    });
    expect(parseInput(send, { name: 'x', constructor: 1 })).toMatchObject({ ok: true, ignored: ['constructor'] });
  });

  it('rejects a misspelled field even if the correct field is also present', () => {
    expect(detailsOf({ name: 'x', NAME: 'y' })).toMatchObject([{ param: 'NAME', reason: 'misspelled_field' }]);
  });

  it('lists every mistake, misspelled fields first, and uses the first mistake as the message', () => {
    const parsed = parseInput(schema, { NAME: 'x', count: 'y', pairs: 5 });

    expect(parsed).toMatchObject({
      ok: false,
      error: {
        code: 'invalid_request',
        reason: 'misspelled_field',
        message: 'NAME is not a field; did you mean name? (3 more in details)',
        facts: { details: [{ param: 'NAME' }, { param: 'name' }, { param: 'count' }, { param: 'pairs' }] },
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
  ])('rejects %s even if the schema does not check for it', (text, param) => {
    expect(detailsOf(JSON.parse(text))).toMatchObject([{ param, reason: 'invalid_type' }]);
  });

  it('rejects nesting deeper than 32 levels, and accepts shallower nesting', () => {
    const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

    expect(detailsOf({ name: 'x', y: nested(31) })).toEqual([]);
    expect(detailsOf({ name: 'x', y: nested(32) })).toMatchObject([{ reason: 'invalid_type' }]);
    expect(detailsOf({ name: 'x', y: nested(100_000) })).toMatchObject([{ reason: 'invalid_type' }]);
  });

  it('stops after 50,000 values', () => {
    expect(detailsOf({ name: 'x', y: Array(49_998).fill(0) })).toEqual([]);
    expect(detailsOf({ name: 'x', y: Array(49_999).fill(0) })).toMatchObject([
      { message: 'The body has more than 50000 values.' },
    ]);
  });

  it('handles any JSON value, and gives every rejection a reason and a message', () => {
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
