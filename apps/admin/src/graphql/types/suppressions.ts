import {
  createSuppressions,
  deleteSuppression,
  listSuppressions,
  suppressionNotFound,
  suppressionSources,
} from '@postrider/core/suppressions';
import { builder } from '../kit/builder.ts';
import { connectionOf, pageArgs } from '../kit/connections.ts';
import { enumOf } from '../kit/enums.ts';
import { call, callFound, page, present } from '../kit/from-operation.ts';
import { outcome, resultOf } from '../kit/mutation-results.ts';
import { claimIds } from '../kit/node-ids.ts';
import { Event, Suppression } from '../kit/refs.ts';
import { DeleteResult, TargetInput } from '../kit/target.ts';

const SuppressionCause = enumOf('SuppressionCause', suppressionSources);

claimIds('suppression', 'Suppression');
builder.node(Suppression, {
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.suppressions.loadMany(ids),
  fields: (t) => ({
    address: t.field({
      type: 'EmailAddress',
      description: 'In lower case: it matches the address in any case.',
      resolve: ({ email }) => email,
    }),
    cause: t.field({ type: SuppressionCause, resolve: ({ source }) => source }),
    source: t.field({
      type: Event,
      nullable: true,
      description: 'The event that caused it.',
      resolve: ({ source_event_id }, _, { load }) =>
        source_event_id === null ? null : load.events.load(source_event_id),
    }),
    note: t.string({
      nullable: true,
      description: 'Human-readable: the reply of a server, or the reason that was given.',
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
    address: t.field({ type: 'EmailAddress', description: 'One address, in any case.' }),
  }),
});

builder.queryField('suppressions', (t) =>
  t.field({
    type: SuppressionConnection,
    description: 'Suppressed addresses, newest first.',
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
    note: t.string({ description: 'Human-readable.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it expires; none given: never.' }),
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
