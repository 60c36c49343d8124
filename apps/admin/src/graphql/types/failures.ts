import { failureGroups, failureKinds, type FailureGroup as Group, MOST_TREND_POINTS } from '@postrider/core/failures';
import { builder } from '../builder.ts';
import { POINTS_OF_AN_OBJECT } from '../cost.ts';
import { enumOf } from '../enums.ts';
import { call } from '../from-operation.ts';
import { StatPoint } from './stat-point.ts';
import { Reach } from './stats.ts';
import { TimeRange } from './time-range.ts';

const FailureKind = enumOf('FailureKind', failureKinds);

export const FailureGroup = builder.objectRef<Group>('FailureGroup').implement({
  description: 'Failures that read alike. The same words have the same id everywhere.',
  fields: (t) => ({
    id: t.exposeID('id'),
    signature: t.exposeString('signature', {
      description: 'The reply without numbers, addresses, ids, hosts and URLs.',
    }),
    kind: t.field({ type: FailureKind, resolve: ({ kind }) => kind }),
    smtpCode: t.int({ nullable: true, resolve: ({ kind, code }) => (kind === 'webhook' ? null : code) }),
    enhancedCode: t.string({ nullable: true, resolve: ({ enhanced_code }) => enhanced_code }),
    sample: t.exposeString('sample', { description: 'One reply as it came, the latest that was counted.' }),
    count: t.exposeInt('count'),
    destinations: t.stringList({
      description: 'Those it came from most often.',
      resolve: ({ destinations }) => [...destinations],
    }),
    firstSeenAt: t.field({ type: 'DateTime', resolve: ({ first_seen_at }) => first_seen_at }),
    lastSeenAt: t.field({ type: 'DateTime', resolve: ({ last_seen_at }) => last_seen_at }),
    trend: t.field({ type: [StatPoint], resolve: ({ trend }) => trend }),
  }),
});

builder.queryField('failureGroups', (t) =>
  t.field({
    type: [FailureGroup],
    description: 'The most frequent first. Every attempt that failed counts, also where a later one passed.',
    args: {
      range: t.arg({ type: TimeRange, required: true }),
      kind: t.arg({ type: FailureKind, required: true }),
      top: t.arg.int({ defaultValue: 20, description: 'Groups, from 1 to 100.' }),
      reach: t.arg({ type: Reach }),
    },
    complexity: ({ top }) => ({
      field: 1 + Math.ceil((Math.max(top ?? 20, 1) * MOST_TREND_POINTS) / POINTS_OF_AN_OBJECT),
      multiplier: 1,
    }),
    async resolve(_, { range, ...args }, g) {
      return (await call(g, failureGroups, { ...args, ...range })).data;
    },
  }),
);
