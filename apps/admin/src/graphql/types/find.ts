import { type AddressSummary, findThings, summarizeAddress } from '@postrider/core/find';
import { builder } from '../kit/builder.ts';
import { call } from '../kit/from-operation.ts';
import { typenameOf } from '../kit/node-ids.ts';
import { Recipient, Suppression } from '../kit/refs.ts';
import { HoldScope } from './holds.ts';
import { recipientOf } from './recipients.ts';

// A subject search reads a fixed number of candidates, whatever it finds.
const SEARCH_POINTS = 50;
// A summary reads a page of the log, a suppression and the holds.
const ADDRESS_POINTS = 10;

builder.queryField('find', (t) =>
  t.nodeList({
    description:
      'Search results for an ID, a Message-ID, an address, the name of a domain, key or webhook, or words from a recent subject.',
    args: {
      text: t.arg.string({ required: true, description: 'The text to search for.' }),
      first: t.arg.int({ defaultValue: 20, description: 'From 1 to 50.' }),
    },
    complexity: ({ first }) => ({ field: SEARCH_POINTS, multiplier: first ?? 20 }),
    async ids(_, { text, first }, g) {
      const { data } = await call(g, findThings, { text, limit: first });
      return data.map(({ id }) => id).filter((id) => typenameOf(id) !== null);
    },
  }),
);

const HoldOnAddress = builder.objectRef<AddressSummary['holds'][number]>('HoldOnAddress').implement({
  description: 'An active hold that stops email to an address.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'node(id) requires admin.' }),
    scope: t.field({ type: HoldScope, description: 'The kind of target that is held.', resolve: ({ scope }) => scope }),
    reason: t.exposeString('reason', { description: 'The reason given with the hold.' }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'null: it lasts until it is released.',
      resolve: ({ expires_at }) => expires_at,
    }),
  }),
});
// In practice, fewer recipients and holds are returned.
const SUMMARY_ITEMS = 5;

const AddressSummaryType = builder.objectRef<AddressSummary>('AddressSummary').implement({
  description: 'What an email to an address meets now, and how the last ones ended.',
  fields: (t) => ({
    address: t.field({ type: 'EmailAddress', description: 'The address in lowercase.', resolve: ({ email }) => email }),
    suppression: t.field({
      type: Suppression,
      nullable: true,
      description: 'null if the address is not suppressed, or for a sandbox key.',
      resolve: ({ suppression }) => suppression,
    }),
    holds: t.field({
      type: [HoldOnAddress],
      description: 'The active holds on all email to the address, and on the emails in recipients.',
      complexity: { field: 1, multiplier: SUMMARY_ITEMS },
      resolve: ({ holds }) => holds,
    }),
    recipients: t.field({
      type: [Recipient],
      description: 'The address as a recipient of its newest emails, at most 5.',
      complexity: { field: 1, multiplier: SUMMARY_ITEMS },
      async resolve({ emails }, _, { load }) {
        const messages = await load.messages.loadMany(emails.map(({ id }) => id));
        return emails.flatMap(({ recipient_id }, index) => {
          const message = messages[index];
          return (message && recipientOf(message, recipient_id)) ?? [];
        });
      },
    }),
  }),
});

builder.queryField('addressSummary', (t) =>
  t.field({
    type: AddressSummaryType,
    description: 'The suppression, holds and newest emails of an address.',
    args: {
      address: t.arg({ type: 'EmailAddress', required: true, description: 'The email address of a recipient.' }),
    },
    complexity: { field: ADDRESS_POINTS, multiplier: 1 },
    resolve: (_, { address: email }, g) => call(g, summarizeAddress, { email }),
  }),
);
