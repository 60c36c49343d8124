import { openWorld } from '@postrider/testing/open-world';
import { getIntrospectionQuery, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { formOf, formProblem, MAX_FRAGMENTS, MAX_SELECTIONS } from '../src/graphql/cost/form.ts';
import { pointsOf } from '../src/graphql/cost/limits.ts';
import { costOf } from '../src/graphql/cost/query-cost.ts';
import { planOf } from '../src/graphql/known/plan.ts';
import { schema } from '../src/graphql/schema.ts';
import { openGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);

const times = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join(' ');
/** Generates fragments that each spread the next one several times. */
const chain = (length: number, spreads: number, leaf = '__typename', type = 'Query') =>
  `query { ...f0 } ${times(length, (i) => `fragment f${i} on ${type} { ${i === length - 1 ? leaf : `...f${i + 1} `.repeat(spreads)} }`)}`;
const inlineChain = (depth: number, leaf = '__typename') =>
  `{ ${'... { '.repeat(depth)} ${leaf} ${'} '.repeat(depth)} }`;
const introspection = getIntrospectionQuery();
const [operation = '', ...fragments] = introspection.split(/(?=fragment )/);
const wholeSchema = operation.slice(operation.indexOf('__schema'), operation.lastIndexOf('}'));

// Each document is rejected before any field is resolved.
const malformed: readonly (readonly [what: string, document: string])[] = [
  ...[12, 16, 24, 40].map(
    (length) => [`${length} fragments that each spread the next twice`, chain(length, 2)] as const,
  ),
  ['forty fragments with a field at their end', chain(40, 2, 'usage { month }')],
  [
    'forty fragments on a type that does not apply',
    `query { ...f0 } ${chain(40, 2, '__typename', 'Message').slice(15)}`,
  ],
  ['forty fragments on an interface', `{ node(id: "x") { ...f0 } } ${chain(40, 2, 'id', 'Node').slice(15)}`],
  ['seven fragments of ten spreads', chain(7, 10)],
  ['three fragments of fifty spreads', chain(3, 50)],
  ['two levels of inline fragments around a chain', `{ ... { ... { ...f0 ...f0 } } } ${chain(24, 2).slice(15)}`],
  [
    'a chain with inline fragments between',
    `{ ...f0 } ${times(20, (i) => `fragment f${i} on Query { ... { ${i === 19 ? '__typename' : `...f${i + 1}`} } ... { ${i === 19 ? '__typename' : `...f${i + 1}`} } }`)}`,
  ],
  ['a chain below a field', `{ usage { ...f0 } } ${chain(30, 2, 'month', 'Usage').slice(15)}`],
  [
    'a chain of aliases',
    `{ ...f0 } ${times(20, (i) => `fragment f${i} on Query { ${i === 19 ? 'usage { month }' : `...f${i + 1} ...f${i + 1}`} }`)}`,
  ],
  [
    '51 fragments',
    `{ usage { ...f0 } } ${times(51, (i) => `fragment f${i} on Usage { month ${i < 50 ? `...f${i + 1}` : ''} }`)}`,
  ],
  [
    '60 fragments of three fields in one selection',
    `{ usage { ${times(60, (i) => `...f${i}`)} } } ${times(60, (i) => `fragment f${i} on Usage { month limit used }`)}`,
  ],
  ['201 fields', `{ usage { ${'month '.repeat(201)} } }`],
  ['201 names of types', `{ ${'__typename '.repeat(201)} }`],
  ['201 names of types below a field', `{ usage { ${'__typename '.repeat(201)} } }`],
  [
    'fragments that make 201 names of types',
    `{ ${'...f '.repeat(20)} } fragment f on Query { ${'__typename '.repeat(10)} }`,
  ],
  ['20 aliases of the whole introspection', `{ ${times(20, (i) => `a${i}: ${wholeSchema}`)} } ${fragments.join(' ')}`],
  [
    'introspection inside fragments',
    `{ ${times(20, (i) => `a${i}: __schema { ...f }`)} } fragment f on __Schema { types { fields { args { name } type { name } } } }`,
  ],
  ['13 deep', `{ messages(first: 1) { nodes { ${'resendOf { '.repeat(10)} id ${'} '.repeat(10)} } } }`],
  [
    '13 deep in fragments',
    `{ messages(first: 1) { nodes { ...f0 } } } ${times(11, (i) => `fragment f${i} on Message { ${i === 10 ? 'id' : `resendOf { ...f${i + 1} }`} }`)}`,
  ],
  ['21 aliases', `{ ${times(21, (i) => `a${i}: usage { month }`)} }`],
  ['21 directives', `{ usage ${'@include(if: true) '.repeat(21)} { month } }`],
  ['directives on fragments', `{ ...f ${'@include(if: true) '.repeat(21)} } fragment f on Query { usage { month } }`],
  ['1,500 tokens', `{ usage { ${'month '.repeat(1500)} } }`],
  ['500 mutations', `mutation { ${times(500, (i) => `a${i}: messageCancel(input: { id: "x" }) { __typename }`)} }`],
  ['a page of a million', '{ messages(first: 1000000) { nodes { id } } }'],
  ['a page in a page', '{ messages(first: 100) { nodes { timeline(first: 20) { nodes { id } } } } }'],
  ['101 ids', `{ nodes(ids: [${'"msg_x" '.repeat(101)}]) { id } }`],
  [
    'fields that multiply in fragments',
    `{ usage { ...a } } fragment a on Usage { ${'...b '.repeat(15)} } fragment b on Usage { ${'...c '.repeat(15)} } fragment c on Usage { month }`,
  ],
  ['a subscription of a chain', chain(30, 2, '__typename', 'Subscription').replace('query', 'subscription')],
  ['a mutation of a chain', chain(30, 2, '__typename', 'Mutation').replace('query', 'mutation')],
];

// Each document is rejected by one of GraphQL's own validation rules.
const invalid: readonly (readonly [what: string, document: string])[] = [
  ['types of types of types', '{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }'],
  [
    'possible types of possible types',
    '{ __schema { types { possibleTypes { possibleTypes { interfaces { possibleTypes { name } } } } } } }',
  ],
  [
    'one type, again and again',
    '{ __type(name: "Query") { fields { type { ofType { fields { type { ofType { fields { name } } } } } } } } }',
  ],
  ['a fragment within itself', '{ ...f } fragment f on Query { ...f }'],
  ['two fragments within each other', '{ ...f } fragment f on Query { ...g ...g } fragment g on Query { ...f ...f }'],
  ['a cycle of forty', `{ ...f0 } ${times(40, (i) => `fragment f${i} on Query { ...f${(i + 1) % 40} }`)}`],
  ['a fragment below its own field', '{ node(id: "x") { ...f } } fragment f on Message { resendOf { ...f } }'],
  ['a fragment twice', '{ ...f } fragment f on Query { __typename } fragment f on Query { usage { month } }'],
  ['a fragment that is not used', '{ usage { month } } fragment f on Query { usage { month } }'],
  ['an unknown fragment', '{ ...f }'],
  ['an unknown type', '{ ...f } fragment f on Nothing { __typename }'],
  ['an unknown field', '{ usage { moth } }'],
  ['fields that conflict', '{ usage { a: month a: limit } }'],
  ['a value as an object', '{ usage { month { day } } }'],
  ['two operations of one name', 'query a { usage { month } } query a { usage { month } }'],
  ['a variable that is missing', 'query ($id: ID!) { node(id: $id) { id } }'],
  ['a field of the prototype', '{ __proto__ constructor }'],
  ['no selection', '{ }'],
  ['brackets', `${'{ usage '.repeat(200)}`],
  ['a string without an end', '{ node(id: "x) { id } }'],
];

// Each document succeeds and costs the given number of points.
const valid: readonly (readonly [what: string, points: number, document: string])[] = [
  ['a fragment spread twice in one selection', 1, '{ usage { ...f ...f } } fragment f on Usage { month }'],
  [
    'a line of forty fragments',
    1,
    `{ usage { ...f0 } } ${times(40, (i) => `fragment f${i} on Usage { month ${i < 39 ? `...f${i + 1}` : ''} }`)}`,
  ],
  [
    'fifty fragments',
    1,
    `{ usage { ${times(50, (i) => `...f${i}`)} } } ${times(50, (i) => `fragment f${i} on Usage { month limit }`)}`,
  ],
  ['eight fragments that each spread the next twice, below the limit', 1, chain(6, 2)],
  ['twenty inline fragments', 1, inlineChain(9)],
  ['twenty aliases', 20, `{ ${times(20, (i) => `a${i}: usage { month }`)} }`],
  ['a name of a type', 1, '{ __typename }'],
  ['a type', 1, '{ __type(name: "Usage") { name } }'],
  ['skipped fields', 1, '{ usage { month @skip(if: true) limit } }'],
  ['an operation of two', 1, 'query a { usage { month } }'],
];

function textCost(document: string) {
  const cost = costOf(schema, parse(document), undefined, {}, { ctx: world.services });
  if ('errors' in cost) throw new Error(String(cost.errors[0]?.message));
  return cost;
}

describe('a hostile document: real R15, R16', () => {
  it.each(malformed)('is rejected before any of it runs: %s', async (_what, document) => {
    const response = await graphql.ask(document);

    expect(response.status).toBe(400);
    expect(response.data).toBeUndefined();
    expect(response.errors).toHaveLength(1);
    expect(response.errors).toMatchObject([{ extensions: { code: 'invalid_request', reason: 'query_too_complex' } }]);
  });

  it.each(invalid)('is rejected as invalid: %s', async (_what, document) => {
    const response = await graphql.ask(document);

    expect(response.status).toBe(400);
    expect(response.errors.map((error) => error.extensions.reason)).toContain('invalid_query');
  });

  it.each(valid)('is executed if within the limits: %s (%i points)', async (_what, points, document) => {
    const [first, second] = [await graphql.ask(document), await graphql.ask(document)];

    expect(first.errors).toEqual([]);
    expect(first.extensions.cost).toMatchObject({ requested: points });
    expect(second.data).toEqual(first.data);
  });

  it('is rejected over both GET and POST', async () => {
    const response = await fetch(`${graphql.url}?query=${encodeURIComponent(chain(40, 2))}`, {
      headers: { authorization: `Bearer ${world.secret}` },
    });

    const text = await response.text();
    expect(text).toContain('query_too_complex');
    expect(text).not.toContain('"data":{');
  });
});

describe("a document's structure", () => {
  it.each([
    [40, 2],
    [50, 2],
    [24, 2],
    [7, 10],
  ])('visits each of %i fragments with %i spreads once per selection', (length, spreads) => {
    const form = formOf(parse(chain(length, spreads)));

    expect(form.fragments).toBe(length);
    expect(form.visited).toBe(1 + (length - 1) * spreads + 1);
    expect(form.selections).toBeGreaterThan(MAX_SELECTIONS);
    expect(formProblem(form)).not.toBeNull();
  });

  it('includes every operation, and every fragment that no operation spreads', () => {
    const form = formOf(
      parse(
        `query a { usage { month } } ${chain(30, 2).replace('query', 'query b')} fragment g on Query { __typename }`,
      ),
    );

    expect(form.visited).toBe(2 + 1 + 29 * 2 + 1 + 1);
    expect(formProblem(form)).not.toBeNull();
  });

  it('is planned with every fragment visited once per selection, as in execution', () => {
    const plan = planOf(schema, parse(chain(40, 2, 'usage { month }')));

    // The operation's spread, two spreads in each of the 39 fragments, and two fields.
    expect(plan?.visited_nodes).toBe(1 + 39 * 2 + 2);
    expect(plan?.steps).toHaveLength(1);
  });

  it('terminates on a cycle of fragments', () => {
    const cycle = parse('{ ...f } fragment f on Query { ...g ...g } fragment g on Query { ...f ...f }');

    expect(formOf(cycle)).toMatchObject({ fragments: 2, visited: 5 });
  });

  it('stays within every limit for a standard introspection query', () => {
    const form = formOf(parse(introspection));
    const cost = textCost(introspection);

    expect(formProblem(form)).toBeNull();
    expect(form.fragments).toBeLessThan(MAX_FRAGMENTS);
    expect(pointsOf(cost)).toBeGreaterThan(1);
    expect(pointsOf(cost)).toBeLessThan(500);
  });
});

describe('the cost of introspection', () => {
  it("grows with the number of entries in the schema's lists", () => {
    const types = Object.keys(schema.getTypeMap()).length;
    const one = textCost('{ __schema { types { name } } }');
    const duplicate = textCost('{ a: __schema { types { name } } b: __schema { types { name } } }');

    expect(one.introspected).toBe(types);
    expect(duplicate.introspected).toBe(2 * types);
    expect(one.points).toBeCloseTo(types / 100);
  });

  it('is exact for all fields', () => {
    const fields = Object.values(schema.getTypeMap()).reduce(
      (sum, type) => sum + ('getFields' in type && !('isOneOf' in type) ? Object.keys(type.getFields()).length : 0),
      0,
    );

    const { introspected } = textCost('{ __schema { types { fields { name } } } }');

    expect(introspected).toBeCloseTo(Object.keys(schema.getTypeMap()).length + fields);
  });
});
