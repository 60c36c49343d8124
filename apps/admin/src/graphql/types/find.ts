import { findThings } from '@postrider/core/find';
import { builder } from '../kit/builder.ts';
import { call } from '../kit/from-operation.ts';
import { typenameOf } from '../kit/node-ids.ts';

// A subject search reads a fixed number of candidates, whatever it finds.
const SEARCH_POINTS = 50;

builder.queryField('find', (t) =>
  t.nodeList({
    description:
      'Search results for an ID, a Message-ID, an address, the name of a domain, key or webhook, or words from a recent subject.',
    args: {
      text: t.arg.string({ required: true }),
      first: t.arg.int({ defaultValue: 20, description: 'From 1 to 50.' }),
    },
    complexity: ({ first }) => ({ field: SEARCH_POINTS, multiplier: first ?? 20 }),
    async ids(_, { text, first }, g) {
      const { data } = await call(g, findThings, { text, limit: first });
      return data.map(({ id }) => id).filter((id) => typenameOf(id) !== null);
    },
  }),
);
