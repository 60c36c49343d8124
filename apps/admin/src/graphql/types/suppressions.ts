import { type ErasureEntry, erasedKinds, getErasure, listErasures, startErasure } from '@postrider/core/erasures';
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
import { call, callIfPresent, orNull, page, present } from '../kit/from-operation.ts';
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
      description: 'Lowercase; matching is case-insensitive.',
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
      description: 'The server response, or the reason from the request.',
      resolve: ({ reason }) => reason,
    }),
    createdAt: t.field({ type: 'DateTime', resolve: ({ created_at }) => created_at }),
    expiresAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ expires_at }) => expires_at }),
  }),
});

const SuppressionConnection = connectionOf(Suppression);

const SuppressionFilter = builder.inputType('SuppressionFilter', {
  fields: (t) => ({
    causes: t.field({ type: [SuppressionCause], description: 'Any of these.' }),
    address: t.field({ type: 'EmailAddress', description: 'An email address, case-insensitive.' }),
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
    expiresAt: t.field({ type: 'DateTime', description: 'When it expires. Default: never.' }),
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
    description: 'Allows email to this address again.',
    args: { input: t.arg({ type: TargetInput, required: true }) },
    resolve: (_, { input }, g) =>
      outcome(async () => {
        await callIfPresent(g, deleteSuppression, async () => {
          const { email } = present(await g.load.suppressions.load(input.id), suppressionNotFound(input.id));
          return { email };
        });
        return { deleted_id: input.id };
      }),
  }),
}));

const ErasureStatus = enumOf('ErasureStatus', ['queued', 'running', 'completed'] as const);

const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

const ErasureCounts = builder.objectRef<ErasureEntry['counts']>('ErasureCounts').implement({
  description: 'Rows erased or redacted.',
  fields: (t) =>
    Object.fromEntries(erasedKinds.map((kind) => [camel(kind), t.int({ resolve: (counts) => counts[kind] })])),
});

const Erasure = builder.objectRef<ErasureEntry>('Erasure').implement({
  description: 'An erasure of an address. Its receipt does not contain the address.',
  fields: (t) => ({
    id: t.exposeID('id'),
    status: t.field({ type: ErasureStatus, resolve: ({ status }) => status }),
    counts: t.field({ type: ErasureCounts, resolve: ({ counts }) => counts }),
    remains: t.stringList({ description: 'Where the address may still be stored.', resolve: ({ remains }) => remains }),
    createdAt: t.field({ type: 'DateTime', resolve: ({ created_at }) => created_at }),
    finishedAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ finished_at }) => finished_at }),
  }),
});

const ErasureConnection = connectionOf(Erasure);

builder.queryFields((t) => ({
  erasures: t.field({
    type: ErasureConnection,
    description: 'Receipts, newest first. Requires admin.',
    args: pageArgs(t),
    resolve: (_, args, g) => page(g, listErasures, args, {}),
  }),
  erasure: t.field({
    type: Erasure,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: (_, { id }, g) => orNull('erasure_not_found', () => call(g, getErasure, { id })),
  }),
}));

const ErasurePayload = builder.objectRef<{ readonly erasure: ErasureEntry }>('ErasurePayload').implement({
  fields: (t) => ({ erasure: t.field({ type: Erasure, resolve: ({ erasure }) => erasure }) }),
});
const ErasureResult = resultOf('ErasureResult', ErasurePayload);

const ErasureInput = builder.inputType('ErasureInput', {
  fields: (t) => ({ address: t.field({ type: 'EmailAddress', required: true }) }),
});

builder.mutationField('erasureStart', (t) =>
  t.field({
    type: ErasureResult,
    description: 'Erases an address and its email content.',
    args: { input: t.arg({ type: ErasureInput, required: true }) },
    resolve: (_, { input }, g) =>
      outcome(async () => ({ erasure: await call(g, startErasure, { email: input.address }) })),
  }),
);
