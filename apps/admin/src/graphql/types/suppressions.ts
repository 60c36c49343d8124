import {
  createSuppressions,
  deleteSuppression,
  listSuppressions,
  suppressionNotFound,
  suppressionSources,
} from '@postrider/core/suppressions';
import { builder } from '../builder.ts';
import { connectionOf, pageArgs } from '../connections.ts';
import { enumOf } from '../enums.ts';
import { outcome, resultOf } from '../errors.ts';
import { call, callFound, page, present } from '../from-operation.ts';
import { claimIds } from '../node-ids.ts';
import { Event, Suppression } from './refs.ts';
import { DeleteResult, TargetInput } from './target.ts';

const SuppressionCause = enumOf('SuppressionCause', suppressionSources);

claimIds('suppression', 'Suppression');
builder.node(Suppression, {
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.suppressions.loadMany(ids),
  fields: (t) => ({
    address: t.field({
      type: 'EmailAddress',
      description: 'In lower case: it stands for every spelling of the address.',
      resolve: ({ email }) => email,
    }),
    cause: t.field({ type: SuppressionCause, resolve: ({ source }) => source }),
    source: t.field({
      type: Event,
      nullable: true,
      description: 'The event that was the cause.',
      resolve: ({ source_event_id }, _, { load }) =>
        source_event_id === null ? null : load.events.load(source_event_id),
    }),
    note: t.string({
      nullable: true,
      description: 'For people: what a server said, or why somebody asked for it.',
      resolve: ({ reason }) => reason,
    }),
    createdAt: t.field({ type: 'DateTime', resolve: ({ created_at }) => created_at }),
    expiresAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ expires_at }) => expires_at }),
  }),
});

const SuppressionConnection = connectionOf(Suppression);

const SuppressionFilter = builder.inputType('SuppressionFilter', {
  fields: (t) => ({
    causes: t.field({ type: [SuppressionCause], description: 'One of these.' }),
    address: t.field({ type: 'EmailAddress', description: 'One address, in any spelling of its case.' }),
  }),
});

builder.queryField('suppressions', (t) =>
  t.field({
    type: SuppressionConnection,
    description: 'The addresses that nothing is sent to, newest first.',
    args: { ...pageArgs(t), filter: t.arg({ type: SuppressionFilter }) },
    resolve: (_, { filter, ...args }, g) =>
      page(g, listSuppressions, args, { source: filter?.causes?.join(','), email: filter?.address }),
  }),
);

const SuppressionPayload = builder
  .objectRef<{ readonly suppression: typeof Suppression.$inferType }>('SuppressionPayload')
  .implement({
    fields: (t) => ({ suppression: t.field({ type: Suppression, resolve: ({ suppression }) => suppression }) }),
  });
const SuppressionResult = resultOf('SuppressionResult', SuppressionPayload);

const SuppressionInput = builder.inputType('SuppressionInput', {
  fields: (t) => ({
    address: t.field({ type: 'EmailAddress', required: true }),
    note: t.string({ description: 'For people.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it ends by itself; none given: never.' }),
  }),
});

builder.mutationFields((t) => ({
  suppressionAdd: t.field({
    type: SuppressionResult,
    args: { input: t.arg({ type: SuppressionInput, required: true }) },
    resolve: (_, { input }, g) =>
      outcome(async () => {
        const { address: email, note: reason, expiresAt } = input;
        const added = await call(g, createSuppressions, { email, reason, expiresAt });
        if ('data' in added) throw new Error('one address was answered as a list');
        return { suppression: added };
      }),
  }),
  suppressionRemove: t.field({
    type: DeleteResult,
    description: 'The next mail to the address is sent.',
    args: { input: t.arg({ type: TargetInput, required: true }) },
    resolve: (_, { input }, g) =>
      outcome(async () => {
        await callFound(g, deleteSuppression, async () => {
          const { email } = present(await g.load.suppressions.load(input.id), suppressionNotFound(input.id));
          return { email };
        });
        return { deleted_id: input.id };
      }),
  }),
}));
