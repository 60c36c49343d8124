import { failureGroups, failureKinds, type FailureGroup as Group, MAX_TREND_POINTS } from '@postrider/core/failures';
import { POINTS_PER_OBJECT } from '../cost/cost-meter.ts';
import { builder } from '../kit/builder.ts';
import { enumOf } from '../kit/enums.ts';
import { call } from '../kit/from-operation.ts';
import { StatPoint } from '../kit/stat-point.ts';
import { TimeRange } from '../kit/time-range.ts';
import { AccessScope } from './stats.ts';

const FailureKind = enumOf('FailureKind', failureKinds);

export const FailureGroup = builder.objectRef<Group>('FailureGroup').implement({
  description: 'A group of similar failures. The same text has the same ID everywhere.',
  fields: (t) => ({
    id: t.exposeID('id'),
    signature: t.exposeString('signature', {
      description: 'The reply stripped of numbers, addresses, IDs, hosts and URLs.',
    }),
    kind: t.field({ type: FailureKind, resolve: ({ kind }) => kind }),
    smtpCode: t.int({ nullable: true, resolve: ({ kind, code }) => (kind === 'webhook' ? null : code) }),
    enhancedCode: t.string({ nullable: true, resolve: ({ enhanced_code }) => enhanced_code }),
    sample: t.exposeString('sample', { description: 'The latest reply in this group, unchanged.' }),
    count: t.exposeInt('count'),
    destinations: t.stringList({
      description: 'The destinations with the most failures in this group.',
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
    description: 'Most frequent first. Every failed attempt counts, even if a later one succeeded.',
    args: {
      range: t.arg({ type: TimeRange, required: true }),
      kind: t.arg({ type: FailureKind, required: true }),
      top: t.arg.int({ defaultValue: 20, description: 'Number of groups, from 1 to 100.' }),
      reach: t.arg({ type: AccessScope }),
    },
    complexity: ({ top }) => ({
      field: 1 + Math.ceil((Math.max(top ?? 20, 1) * MAX_TREND_POINTS) / POINTS_PER_OBJECT),
      multiplier: 1,
    }),
    async resolve(_, { range, ...args }, g) {
      return (await call(g, failureGroups, { ...args, ...range })).data;
    },
  }),
);
