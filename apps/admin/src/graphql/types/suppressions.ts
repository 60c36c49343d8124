import { type ErasureEntry, erasedKinds, getErasure, listErasures, startErasure } from '@postrider/core/erasures';
import {
  createSuppressions,
  deleteSuppression,
  listSuppressions,
  suppressionNotFound,
  suppressionSources,
} from '@postrider/core/suppressions';
import { builder } from '../kit/builder.ts';
import { connectionOf, filterArg, pageArgs } from '../kit/connections.ts';
import { enumOf } from '../kit/enums.ts';
import { call, callIfPresent, orNull, page, present } from '../kit/from-operation.ts';
import { inputArg, outcome, resultOf } from '../kit/mutation-results.ts';
import { claimIds } from '../kit/node-ids.ts';
import { Event, Suppression } from '../kit/refs.ts';
import { DeleteResult, TargetInput } from '../kit/target.ts';

const SuppressionCause = enumOf('SuppressionCause', suppressionSources, 'How an address was suppressed.');

claimIds('suppression', 'Suppression');
builder.node(Suppression, {
  description: 'An address that the workspace does not send to.',
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.suppressions.loadMany(ids),
  fields: (t) => ({
    address: t.field({
      type: 'EmailAddress',
      description: 'Lowercase; matching is case-insensitive.',
      resolve: ({ email }) => email,
    }),
    cause: t.field({
      type: SuppressionCause,
      description: 'How the address was added.',
      resolve: ({ source }) => source,
    }),
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
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was added.',
      resolve: ({ created_at }) => created_at,
    }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it expires; null: never.',
      resolve: ({ expires_at }) => expires_at,
    }),
  }),
});

const SuppressionConnection = connectionOf(Suppression);

const SuppressionFilter = builder.inputType('SuppressionFilter', {
  description: 'Combined with AND.',
  fields: (t) => ({
    causes: t.field({ type: [SuppressionCause], description: 'Any of these.' }),
    address: t.field({ type: 'EmailAddress', description: 'An email address, case-insensitive.' }),
  }),
});

builder.queryField('suppressions', (t) =>
  t.field({
    type: SuppressionConnection,
    description: 'Suppressed addresses, newest first.',
    args: { ...pageArgs(t), filter: filterArg(t, SuppressionFilter) },
    resolve: (_, { filter, ...args }, g) =>
      page(g, listSuppressions, args, { source: filter?.causes?.join(','), email: filter?.address }),
  }),
);

const SuppressionPayload = builder
  .objectRef<{ readonly suppression: typeof Suppression.$inferType }>('SuppressionPayload')
  .implement({
    description: 'The added suppression.',
    fields: (t) => ({
      suppression: t.field({
        type: Suppression,
        description: 'The suppression of the address.',
        resolve: ({ suppression }) => suppression,
      }),
    }),
  });
const SuppressionResult = resultOf('SuppressionResult', SuppressionPayload);

const SuppressionInput = builder.inputType('SuppressionInput', {
  description: 'The address to suppress.',
  fields: (t) => ({
    address: t.field({ type: 'EmailAddress', required: true, description: 'The email address, case-insensitive.' }),
    note: t.string({ description: 'Human-readable.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it expires. Default: never.' }),
  }),
});

builder.mutationFields((t) => ({
  suppressionAdd: t.field({
    type: SuppressionResult,
    description: 'Suppresses an address, so that no email is sent to it.',
    args: { input: inputArg(t, SuppressionInput) },
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
    args: { input: inputArg(t, TargetInput) },
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

const ErasureStatus = enumOf(
  'ErasureStatus',
  ['queued', 'running', 'completed'] as const,
  'COMPLETED: every row in counts is erased or redacted.',
);

const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

const countDescriptions: Record<(typeof erasedKinds)[number], string> = {
  recipients: 'Recipients whose address was redacted.',
  canceled: 'Recipients whose pending email was canceled.',
  messages: 'Emails whose addresses, subject, tags or metadata were redacted.',
  bodies: 'Emails whose content was deleted.',
  bodies_kept: 'Content kept because other people received it too.',
  attempts: 'Attempts whose reply or error contained the address.',
  transcripts: 'Deleted SMTP transcripts of attempts to the address.',
  events: 'Events whose details contained the address.',
  webhook_deliveries: 'Webhook deliveries and attempts that contained the address.',
  captures: 'Deleted captured emails that contained the address.',
  requests: 'Deleted rejected and failed requests that contained the address.',
  idempotency_keys: 'Deleted idempotency keys whose key or response contained the address.',
  suppressions: 'Suppressions, kept as a hash.',
  other_rows: 'Statistics, failures, bulk operations and jobs.',
};

const ErasureCounts = builder.objectRef<ErasureEntry['counts']>('ErasureCounts').implement({
  description: 'Rows erased or redacted.',
  fields: (t) =>
    Object.fromEntries(
      erasedKinds.map((kind) => [
        camel(kind),
        t.int({ description: countDescriptions[kind], resolve: (counts) => counts[kind] }),
      ]),
    ),
});

const Erasure = builder.objectRef<ErasureEntry>('Erasure').implement({
  description: 'An erasure of an address. Its receipt does not contain the address.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The same ID as in REST.' }),
    status: t.field({
      type: ErasureStatus,
      description: 'The progress of the erasure.',
      resolve: ({ status }) => status,
    }),
    counts: t.field({
      type: ErasureCounts,
      description: 'The number of erased or redacted rows by kind.',
      resolve: ({ counts }) => counts,
    }),
    remains: t.stringList({ description: 'Where the address may still be stored.', resolve: ({ remains }) => remains }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was requested.',
      resolve: ({ created_at }) => created_at,
    }),
    finishedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was completed; null before.',
      resolve: ({ finished_at }) => finished_at,
    }),
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
    description: 'One receipt by its ID; null if not found. Requires admin.',
    args: { id: t.arg.id({ required: true, description: 'The ID of the erasure.' }) },
    resolve: (_, { id }, g) => orNull('erasure_not_found', () => call(g, getErasure, { id })),
  }),
}));

const ErasurePayload = builder.objectRef<{ readonly erasure: ErasureEntry }>('ErasurePayload').implement({
  description: 'The started erasure.',
  fields: (t) => ({
    erasure: t.field({
      type: Erasure,
      description: 'The receipt of the erasure.',
      resolve: ({ erasure }) => erasure,
    }),
  }),
});
const ErasureResult = resultOf('ErasureResult', ErasurePayload);

const ErasureInput = builder.inputType('ErasureInput', {
  description: 'The address to erase.',
  fields: (t) => ({
    address: t.field({ type: 'EmailAddress', required: true, description: 'The email address, case-insensitive.' }),
  }),
});

builder.mutationField('erasureStart', (t) =>
  t.field({
    type: ErasureResult,
    description: 'Erases an address and its email content.',
    args: { input: inputArg(t, ErasureInput) },
    resolve: (_, { input }, g) =>
      outcome(async () => ({ erasure: await call(g, startErasure, { email: input.address }) })),
  }),
);
