import { accessScopes } from '@postrider/core';
import { metrics, mostStatPoints, type Stats, statDimensions, statSeries } from '@postrider/core/stats';
import { POINTS_PER_OBJECT } from '../cost/cost-meter.ts';
import { builder } from '../kit/builder.ts';
import { enumOf } from '../kit/enums.ts';
import { call } from '../kit/from-operation.ts';
import { Bucket, StatPoint } from '../kit/stat-point.ts';
import { TimeRange } from '../kit/time-range.ts';

type Series = Stats['series'][number];

export const AccessScope = enumOf(
  'Reach',
  accessScopes,
  'WORKSPACE requires admin and is the default for admins. INSTANCE requires operator and is the default for operators without admin.',
);
const Metric = enumOf(
  'Metric',
  metrics,
  'Recipient counts, or durations in seconds since the email was accepted or, if it was scheduled, since its scheduled time.',
);
const StatDimension = enumOf('StatDimension', statDimensions, 'DOMAIN is the sending domain.');

const StatSeries = builder.objectRef<Series & Pick<Stats, 'complete_until'>>('StatSeries').implement({
  fields: (t) => ({
    metric: t.field({ type: Metric, resolve: ({ metric }) => metric }),
    key: t.string({
      nullable: true,
      description: 'The value of the dimension; null: everything without its own series.',
      resolve: ({ key }) => key,
    }),
    points: t.field({ type: [StatPoint], resolve: ({ points }) => points }),
    completeUntil: t.field({
      type: 'DateTime',
      description: 'Data after this time is not complete yet.',
      resolve: ({ complete_until }) => complete_until,
    }),
  }),
});

builder.queryField('stats', (t) =>
  t.field({
    type: [StatSeries],
    description: 'Email outcomes over time, counted by recipient.',
    args: {
      range: t.arg({ type: TimeRange, required: true }),
      bucket: t.arg({ type: Bucket, required: true }),
      metrics: t.arg({ type: [Metric], required: true }),
      groupBy: t.arg({ type: StatDimension }),
      top: t.arg.int({ description: 'Number of groups that get their own series. Default: 10, maximum: 30.' }),
      reach: t.arg({ type: AccessScope }),
    },
    complexity: ({ range, bucket, metrics: names, groupBy, top }, { ctx }) => {
      const max = mostStatPoints({
        since_ms: Date.parse(range.since),
        until_ms: range.until == null ? ctx.clock.now() : Date.parse(range.until),
        bucket,
        metrics: names,
        group_by: groupBy ?? 'none',
        top: top ?? null,
      });
      return { field: 1 + Math.ceil(max / POINTS_PER_OBJECT), multiplier: 1 };
    },
    async resolve(_, { range, ...args }, g) {
      const { series, complete_until } = await call(g, statSeries, { ...args, ...range });
      return series.map((one) => ({ ...one, complete_until }));
    },
  }),
);
