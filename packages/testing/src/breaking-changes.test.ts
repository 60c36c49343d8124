import { describe, expect, it } from 'vitest';
import { breakingChanges } from './breaking-changes.ts';

type Json = Readonly<Record<string, unknown>>;

const letter = {
  type: 'object',
  properties: {
    to: { type: 'string', maxLength: 320 },
    kind: { type: 'string', enum: ['plain', 'rich'] },
    size: { type: 'integer', minimum: 1, default: 20 },
    tags: { type: 'array', items: { $ref: '#/components/schemas/Tag' }, maxItems: 5 },
    copies: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    facts: { type: 'object', additionalProperties: { type: 'string' } },
  },
  required: ['to'],
};
const receipt = {
  type: 'object',
  properties: {
    object: { type: 'string', const: 'receipt' },
    status: { type: 'string', enum: ['queued', 'sent'] },
    sent_at: { type: ['string', 'null'], format: 'date-time' },
    size: { type: 'integer' },
    parts: { type: 'array', items: { anyOf: [{ $ref: '#/components/schemas/Part' }, { type: 'null' }] } },
  },
  required: ['object', 'status', 'sent_at', 'parts'],
};
const part = {
  type: 'object',
  properties: { name: { type: 'string' }, parts: { type: 'array', items: { $ref: '#/components/schemas/Part' } } },
  required: ['name'],
};

interface Changes {
  readonly letter?: Json;
  readonly receipt?: Json;
  readonly part?: Json;
  readonly tag?: Json;
  readonly operation?: Json;
  readonly parameters?: readonly Json[];
  readonly answer?: Json;
  readonly paths?: Json;
}

const limit = { name: 'limit', in: 'query', required: false, schema: { type: 'integer', maximum: 100 } };

/** Returns a document with one POST and one GET, with some parts replaced. */
function documentWith(changes: Changes = {}): Json {
  const content = (name: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } });
  const post = {
    operationId: 'send',
    security: [{ key: ['send'] }],
    requestBody: { required: true, content: content('Letter') },
    responses: {
      202: { headers: { 'X-Id': {} }, content: content('Receipt'), ...changes.answer },
      404: { $ref: '#/components/responses/none' },
    },
    ...changes.operation,
  };
  const get = {
    operationId: 'list',
    parameters: changes.parameters ?? [limit],
    responses: { 200: { content: content('Receipt') } },
  };
  return {
    security: [{ key: [] }],
    paths: changes.paths ?? { '/letters': { post, get } },
    components: {
      responses: { none: { description: 'None.' } },
      schemas: {
        Letter: { ...letter, ...changes.letter },
        Receipt: { ...receipt, ...changes.receipt },
        Part: { ...part, ...changes.part },
        Tag: changes.tag ?? { type: 'string' },
      },
    },
  };
}

const breaksOf = (changes: Changes) => breakingChanges(documentWith(), documentWith(changes));
const inLetter = (fields: Json, required = letter.required): Changes => ({
  letter: { properties: { ...letter.properties, ...fields }, required },
});
const inReceipt = (fields: Json, required = receipt.required): Changes => ({
  receipt: { properties: { ...receipt.properties, ...fields }, required },
});
const without = (fields: Json, name: string): Json =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));

describe('a breaking change', () => {
  const { post, get } = (documentWith().paths as Record<string, Record<string, Json>>)['/letters'] ?? {};

  it.each<[string, Changes, string[]]>([
    ['the path', { paths: {} }, ['GET /letters is gone', 'POST /letters is gone']],
    ['a method', { paths: { '/letters': { post } } }, ['GET /letters is gone']],
    ['its name', { operation: { operationId: 'post' } }, ['POST /letters: operationId was send, is post']],
    [
      'its scope',
      { operation: { security: [{ key: ['admin'] }] } },
      ['POST /letters: {"key":["send"]} is no longer enough; it wants {"key":["admin"]}'],
    ],
    ['a parameter', { parameters: [] }, ['GET /letters: query parameter limit is gone']],
    [
      'a parameter that becomes required',
      { parameters: [{ ...limit, required: true }] },
      ['GET /letters: query parameter limit is now required'],
    ],
    [
      'a new required parameter',
      { parameters: [limit, { name: 'for', in: 'query', required: true, schema: {} }] },
      ['GET /letters: query parameter for is new and required'],
    ],
    [
      'the limit of a parameter',
      { parameters: [{ ...limit, schema: { type: 'integer', maximum: 50 } }] },
      ['GET /letters: query parameter limit maximum was 100, is 50'],
    ],
    ['the body', { operation: { requestBody: undefined } }, ['POST /letters: body is no longer read']],
    [
      'the media type of the body',
      { operation: { requestBody: { content: { 'text/plain': {} } } } },
      ['POST /letters: body application/json is gone'],
    ],
    ['a success', { operation: { responses: {} } }, ['POST /letters: 202 is gone']],
    ['the header of an answer', { answer: { headers: {} } }, ['POST /letters: 202 header X-Id is gone']],
  ])('is reported for the surface: %s', (_, changes, breaks) => {
    expect(get).toBeDefined();

    expect(breaksOf(changes)).toEqual(breaks);
  });

  it.each<[string, Changes, string[]]>([
    ['a field', { letter: { properties: without(letter.properties, 'tags') } }, ['.tags is gone']],
    ['an optional field that becomes required', inLetter({}, ['to', 'kind']), ['.kind is now required']],
    ['a new required field', inLetter({ by: { type: 'string' } }, ['to', 'by']), ['.by is now required']],
    ['a type', inLetter({ to: { type: 'integer' } }), ['.to was string, is integer']],
    ['an enum', inLetter({ kind: { type: 'string', enum: ['plain'] } }), ['.kind may no longer be rich']],
    ['a free text', inLetter({ to: { type: 'string', maxLength: 320, enum: ['a'] } }), ['.to may now only be a']],
    ['an upper limit', inLetter({ to: { type: 'string', maxLength: 64 } }), ['.to maxLength was 320, is 64']],
    ['a lower limit', inLetter({ size: { type: 'integer', minimum: 2, default: 20 } }), ['.size minimum was 1, is 2']],
    ['a limit where there was none', { tag: { type: 'string', maxLength: 9 } }, ['.tags[] maxLength was absent, is 9']],
    ['a new pattern', { tag: { type: 'string', pattern: '^a' } }, ['.tags[] pattern was absent, is ^a']],
    ['a default', inLetter({ size: { type: 'integer', minimum: 1, default: 10 } }), ['.size default was 20, is 10']],
    ['one of several forms', inLetter({ copies: { type: 'string' } }), ['.copies may no longer be array']],
    [
      'the values of a map',
      inLetter({ facts: { type: 'object', additionalProperties: { type: 'integer' } } }),
      ['.facts.* was string, is integer'],
    ],
    ['other fields', { letter: { additionalProperties: false } }, [' may no longer have other fields']],
  ])('is reported for a request: %s', (_, changes, breaks) => {
    expect(breaksOf(changes)).toEqual(breaks.map((one) => `POST /letters: body${one}`));
  });

  it.each<[string, Changes, string[]]>([
    ['a field', { receipt: { properties: without(receipt.properties, 'size') } }, ['.size is gone']],
    ['a promise to be there', inReceipt({}, ['object', 'sent_at', 'parts']), ['.status may now be absent']],
    ['a type', inReceipt({ size: { type: 'number' } }), ['.size was integer, is number']],
    ['a type that may now be null', inReceipt({ size: { type: ['integer', 'null'] } }), ['.size may now be null']],
    ['a constant', inReceipt({ object: { type: 'string', const: 'slip' } }), ['.object was receipt, is slip']],
    ['a format', inReceipt({ sent_at: { type: ['string', 'null'] } }), ['.sent_at format was date-time, is absent']],
    [
      'a field of a shared schema',
      { part: { properties: without(part.properties, 'name') } },
      ['.parts[].name is gone'],
    ],
  ])('is reported for a response: %s', (_, changes, breaks) => {
    expect(breaksOf(changes)).toEqual(
      ['GET /letters: 200', 'POST /letters: 202'].flatMap((location) => breaks.map((one) => location + one)),
    );
  });
});

describe('a change that is not breaking', () => {
  const paths = documentWith().paths as Json;

  it.each<[string, Changes]>([
    ['the same document', {}],
    ['a new path', { paths: { ...paths, '/parcels': {} } }],
    ['a new method', { paths: { '/letters': { ...(paths['/letters'] as Json), delete: {} } } }],
    ['a new optional parameter', { parameters: [limit, { name: 'tag', in: 'query', schema: { type: 'string' } }] }],
    ['a wider parameter', { parameters: [{ ...limit, schema: { type: 'integer' } }] }],
    ['less to be allowed to', { operation: { security: [{ key: [] }] } }],
    ['another way to be allowed to', { operation: { security: [{ other: [] }, { key: ['send'] }] } }],
    ['a new optional field of a request', inLetter({ by: { type: 'string' } })],
    ['a request that needs less', inLetter({}, [])],
    ['a new enum value of a request', inLetter({ kind: { type: 'string', enum: ['plain', 'rich', 'odd'] } })],
    ['a wider limit', inLetter({ to: { type: 'string', maxLength: 998 } })],
    ['a wider number', inLetter({ size: { type: 'number', minimum: 1, default: 20 } })],
    ['a new form', inLetter({ to: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] } })],
    ['a new field of an answer', inReceipt({ by: { type: 'string' } }, [...receipt.required, 'by'])],
    ['a field that always comes', inReceipt({}, [...receipt.required, 'size'])],
    ['a new enum value of an answer', inReceipt({ status: { type: 'string', enum: ['queued', 'sent', 'lost'] } })],
    ['an answer that is never null', inReceipt({ sent_at: { type: 'string', format: 'date-time' } })],
    ['other words', { tag: { type: 'string', description: 'A word.', examples: ['a'] } }],
  ])('%s', (_, changes) => {
    expect(breaksOf(changes)).toEqual([]);
  });

  it('an error that no longer occurs', () => {
    const [before, after] = [{ 202: {}, 404: {} }, { 202: {} }].map((responses) =>
      documentWith({ operation: { responses } }),
    );

    expect(breakingChanges(before ?? {}, after ?? {})).toEqual([]);
  });
});
