import { reaches } from '@postrider/core';
import { buckets, metrics, mostStatPoints, type Stats, statDimensions, statSeries } from '@postrider/core/stats';
import { builder } from '../builder.ts';
import { POINTS_OF_AN_OBJECT } from '../cost.ts';
import { enumOf } from '../enums.ts';
import { call } from '../from-operation.ts';
import { StatPoint } from './stat-point.ts';
import { TimeRange } from './time-range.ts';

type Series = Stats['series'][number];

export const Reach = enumOf(
  'Reach',
  reaches,
  'WORKSPACE needs admin and is what an admin gets; INSTANCE needs operator and is what an operator without admin gets.',
);
const Bucket = enumOf('Bucket', buckets, 'All begin at a full minute, hour or day of UTC.');
const Metric = enumOf('Metric', metrics, 'Recipients, or durations in seconds since the accept or the scheduled time.');
const StatDimension = enumOf('StatDimension', statDimensions, 'DOMAIN is the one that sent.');

const StatSeries = builder.objectRef<Series & Pick<Stats, 'complete_until'>>('StatSeries').implement({
  fields: (t) => ({
    metric: t.field({ type: Metric, resolve: ({ metric }) => metric }),
    key: t.string({
      nullable: true,
      description: 'Of the dimension; null: all that has no series of its own.',
      resolve: ({ key }) => key,
    }),
    points: t.field({ type: [StatPoint], resolve: ({ points }) => points }),
    completeUntil: t.field({
      type: 'DateTime',
      description: 'What happened after this has not been counted yet.',
      resolve: ({ complete_until }) => complete_until,
    }),
  }),
});

builder.queryField('stats', (t) =>
  t.field({
    type: [StatSeries],
    description: 'What became of mail over time, counted by recipient.',
    args: {
      range: t.arg({ type: TimeRange, required: true }),
      bucket: t.arg({ type: Bucket, required: true }),
      metrics: t.arg({ type: [Metric], required: true }),
      groupBy: t.arg({ type: StatDimension }),
      top: t.arg.int({ description: 'Keys with series of their own; 10 unless said, 30 at most.' }),
      reach: t.arg({ type: Reach }),
    },
    complexity: ({ range, bucket, metrics: asked, groupBy, top }, { ctx }) => {
      const most = mostStatPoints({
        since_ms: Date.parse(range.since),
        until_ms: range.until == null ? ctx.clock.now() : Date.parse(range.until),
        bucket,
        metrics: asked,
        group_by: groupBy ?? 'none',
        top: top ?? null,
      });
      return { field: 1 + Math.ceil(most / POINTS_OF_AN_OBJECT), multiplier: 1 };
    },
    async resolve(_, { range, ...args }, g) {
      const { series, complete_until } = await call(g, statSeries, { ...args, ...range });
      return series.map((one) => ({ ...one, complete_until }));
    },
  }),
);
