import { type ErasureEntry, erasedKinds, getErasure, startErasure } from '@postrider/core/erasures';
import { builder } from '../kit/builder.ts';
import { enumOf } from '../kit/enums.ts';
import { call, orNull } from '../kit/from-operation.ts';
import { outcome, resultOf } from '../kit/mutation-results.ts';

const ErasureStatus = enumOf('ErasureStatus', ['queued', 'running', 'completed'] as const);

const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

const ErasureCounts = builder.objectRef<ErasureEntry['counts']>('ErasureCounts').implement({
  description: 'Rows that were erased or changed.',
  fields: (t) =>
    Object.fromEntries(erasedKinds.map((kind) => [camel(kind), t.int({ resolve: (counts) => counts[kind] })])),
});

const Erasure = builder.objectRef<ErasureEntry>('Erasure').implement({
  description: 'A run that erases an address; its receipt holds no address.',
  fields: (t) => ({
    id: t.exposeID('id'),
    status: t.field({ type: ErasureStatus, resolve: ({ status }) => status }),
    counts: t.field({ type: ErasureCounts, resolve: ({ counts }) => counts }),
    remains: t.stringList({ description: 'Where the address may still be.', resolve: ({ remains }) => remains }),
    createdAt: t.field({ type: 'DateTime', resolve: ({ created_at }) => created_at }),
    finishedAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ finished_at }) => finished_at }),
  }),
});

builder.queryField('erasure', (t) =>
  t.field({
    type: Erasure,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: (_, { id }, g) => orNull('erasure_not_found', () => call(g, getErasure, { id })),
  }),
);

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
    description: 'Erases an address and the content of its mail.',
    args: { input: t.arg({ type: ErasureInput, required: true }) },
    resolve: (_, { input }, g) =>
      outcome(async () => ({ erasure: await call(g, startErasure, { email: input.address }) })),
  }),
);
