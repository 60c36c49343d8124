import type { IdKind } from '@postrider/core';
import SchemaBuilder from '@pothos/core';
import ComplexityPlugin, { type FieldComplexityValue } from '@pothos/plugin-complexity';
import RelayPlugin from '@pothos/plugin-relay';
import { GraphQLError, getNamedType, isLeafType, isListType, isObjectType } from 'graphql';
import { nodesCost, typenameOf } from './node-ids.ts';
import { pageSize } from './page-size.ts';
import type { GraphqlContext } from './request-context.ts';

export interface SchemaShape {
  Context: GraphqlContext;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: false;
  DefaultNodeNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    // Times remain strings, as in every API. Core parses and formats them.
    DateTime: { Input: string; Output: string };
    EmailAddress: { Input: string; Output: string };
    URL: { Input: string; Output: string };
    BigInt: { Input: number; Output: number };
    JSON: { Input: unknown; Output: unknown };
  };
}

export const builder = new SchemaBuilder<SchemaShape>({
  plugins: [RelayPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  relay: {
    // The REST ID is the global ID, and its prefix identifies the type.
    encodeGlobalID: (_typename, id) => String(id),
    decodeGlobalID: (id) => ({ typename: typenameOf(id) ?? '', id }),
    nodeQueryOptions: {
      description: 'The object with this ID, from a log, webhook or REST response; null if not found.',
      args: { id: { description: 'An ID of any type. Its prefix identifies the type.' } },
      complexity: ({ id }) => nodesCost([id]),
      resolve: (_root, { id }, _g, _info, load) => (id.typename === '' ? null : load(id)),
    },
    nodesQueryOptions: {
      description: 'Up to 100 objects by ID, in the same order.',
      args: { ids: { description: 'IDs of any types. The result has null for each one that is not found.' } },
      complexity: ({ ids }) => nodesCost(ids),
      resolve: async (_root, { ids }, _g, _info, load) => {
        const known = ids.filter((id) => id.typename !== '');
        const nodes = await load(known);
        const byId = new Map(known.map((id, index) => [id.id, nodes[index]]));
        return ids.map((id) => byId.get(id.id) ?? null);
      },
    },
    nodeTypeOptions: { description: 'An object that node(id) finds.' },
    idFieldOptions: { description: 'The same ID as in REST, webhooks and logs.' },
    nodesOnConnection: {
      description: 'The entries of the page, without cursors.',
      complexity: { field: 1, multiplier: 1 },
    },
    edgesFieldOptions: {
      description: 'The entries of the page, each with its cursor.',
      complexity: { field: 0, multiplier: 1 },
    },
    pageInfoFieldOptions: { description: 'Whether there are more pages, and how to get them.', complexity: 0 },
    pageInfoTypeOptions: { description: 'The position of a page in its list.' },
    hasNextPageFieldOptions: { description: 'Whether entries follow this page.' },
    hasPreviousPageFieldOptions: { description: 'Whether entries precede this page.' },
    startCursorFieldOptions: {
      description: 'Where the page begins. A list with a before argument takes it for the previous page.',
    },
    endCursorFieldOptions: {
      description: 'Where the page ends. Pass it as after for the next page; null: an empty last page.',
    },
    nodeFieldOptions: { description: 'The entry.' },
    cursorFieldOptions: { description: 'The position of the entry. Pass it as after to continue behind it.' },
    defaultConnectionTypeOptions: { description: 'A page of a list.' },
    defaultEdgeTypeOptions: { description: 'An entry of a list, with its cursor.' },
    cursorType: 'String',
  },
  complexity: {
    // cost/limits.ts measures complexity before execution. The plugin would do so in the first resolver.
    disabled: true,
    fieldComplexity: (args, _g, field): FieldComplexityValue => {
      const type = getNamedType(field.type);
      if (isLeafType(type)) return 0;
      if (type.name.endsWith('Connection')) {
        return { field: 1, multiplier: Math.max(pageSize(args), 1) };
      }
      // A list of plain values counts as part of its object.
      if (isObjectType(type) && type.getInterfaces().length === 0 && isListType(field.type)) {
        return { field: 1, multiplier: 1 };
      }
      return { field: 1, multiplier: 1 };
    },
  },
});

export type { IdKind };

for (const [name, description] of [
  ['DateTime', 'ISO 8601 in UTC with milliseconds and Z. Input can use another offset.'],
  ['EmailAddress', 'An email address, such as ada@example.com.'],
  ['URL', 'An absolute HTTP or HTTPS URL.'],
] as const) {
  builder.scalarType(name, { description, serialize: (value) => value, parseValue: textOf(name) });
}
builder.scalarType('BigInt', {
  description: 'A whole number beyond 32 bits, as a JSON number.',
  serialize: (value) => value,
  parseValue: (value) => {
    if (Number.isSafeInteger(value)) return value as number;
    throw new GraphQLError('BigInt must be a whole number below 2^53.');
  },
});
builder.scalarType('JSON', { description: 'Any JSON value.', serialize: (value) => value });

/** Returns a function that checks only the type. Core validates the text and rejects it with a reason. */
function textOf(name: string): (value: unknown) => string {
  return (value) => {
    if (typeof value === 'string') return value;
    throw new GraphQLError(`${name} must be a string.`);
  };
}

builder.queryType({
  description: 'Reads. Nothing changes, except that reads of content are recorded in the audit log.',
});
builder.mutationType({
  description: 'Changes. An error that the caller can fix is a member of the result, not in errors.',
});
builder.subscriptionType({ description: 'Streams of server-sent events. Send Accept: text/event-stream.' });
