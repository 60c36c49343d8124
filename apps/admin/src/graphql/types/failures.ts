import { failureGroups, failureKinds, type FailureGroup as Group, MAX_TREND_POINTS } from '@postrider/core/failures';
import { POINTS_PER_OBJECT } from '../cost/cost-meter.ts';
import { builder } from '../kit/builder.ts';
import { enumOf } from '../kit/enums.ts';
import { call } from '../kit/from-operation.ts';
import { StatPoint } from '../kit/stat-point.ts';
import { TimeRange } from '../kit/time-range.ts';
import { reachArg } from './stats.ts';

const FailureKind = enumOf(
  'FailureKind',
  failureKinds,
  'The kind of failed work: email, a webhook delivery, a job or a DNS check.',
);

export const FailureGroup = builder.objectRef<Group>('FailureGroup').implement({
  description: 'A group of similar failures. The same text has the same ID everywhere.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Derived from the signature, code and kind: identical in every workspace.' }),
    signature: t.exposeString('signature', {
      description: 'The reply stripped of numbers, addresses, IDs, hosts and URLs.',
    }),
    kind: t.field({ type: FailureKind, description: 'The kind of failed work.', resolve: ({ kind }) => kind }),
    smtpCode: t.int({
      nullable: true,
      description: 'The SMTP reply code; null: none.',
      resolve: ({ kind, code }) => (kind === 'webhook' ? null : code),
    }),
    enhancedCode: t.string({
      nullable: true,
      description: 'The enhanced status code, such as 5.1.1; null: none.',
      resolve: ({ enhanced_code }) => enhanced_code,
    }),
    sample: t.exposeString('sample', { description: 'The latest reply in this group, unchanged.' }),
    count: t.exposeInt('count', { description: 'Number of failed attempts in the range.' }),
    destinations: t.stringList({
      description: 'The destinations with the most failures in this group.',
      resolve: ({ destinations }) => [...destinations],
    }),
    firstSeenAt: t.field({
      type: 'DateTime',
      description: 'When the group first occurred.',
      resolve: ({ first_seen_at }) => first_seen_at,
    }),
    lastSeenAt: t.field({
      type: 'DateTime',
      description: 'When the group last occurred.',
      resolve: ({ last_seen_at }) => last_seen_at,
    }),
    trend: t.field({ type: [StatPoint], description: 'Failed attempts over time.', resolve: ({ trend }) => trend }),
  }),
});

builder.queryField('failureGroups', (t) =>
  t.field({
    type: [FailureGroup],
    description: 'Most frequent first. Every failed attempt counts, even if a later one succeeded.',
    args: {
      range: t.arg({ type: TimeRange, required: true, description: 'The time range of the failures.' }),
      kind: t.arg({ type: FailureKind, required: true, description: 'The kind of failed work.' }),
      top: t.arg.int({ defaultValue: 20, description: 'Number of groups, from 1 to 100.' }),
      reach: reachArg(t),
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
