import { accessScopes } from '@postrider/core';
import { metrics, mostStatPoints, type Stats, statDimensions, statSeries } from '@postrider/core/stats';
import type { ArgBuilder } from '@pothos/core';
import { POINTS_PER_OBJECT } from '../cost/cost-meter.ts';
import { builder, type SchemaShape } from '../kit/builder.ts';
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
/** Returns the argument of queries that read a workspace or the instance. */
export function reachArg(t: { readonly arg: ArgBuilder<PothosSchemaTypes.ExtendDefaultTypes<SchemaShape>> }) {
  return t.arg({ type: AccessScope, description: 'The workspace of the caller, or the instance.' });
}

const Metric = enumOf(
  'Metric',
  metrics,
  'Recipient counts, or durations in seconds since the email was accepted or, if it was scheduled, since its scheduled time.',
);
const StatDimension = enumOf(
  'StatDimension',
  statDimensions,
  'DOMAIN is the sending domain. The key of a TRANSPORT is its ID, or default.',
);

const StatSeries = builder.objectRef<Series & Pick<Stats, 'complete_until'>>('StatSeries').implement({
  description: 'One metric over time, for one group or in total.',
  fields: (t) => ({
    metric: t.field({ type: Metric, description: 'The metric of the values.', resolve: ({ metric }) => metric }),
    key: t.string({
      nullable: true,
      description: 'The value of the dimension; null: everything without its own series.',
      resolve: ({ key }) => key,
    }),
    points: t.field({ type: [StatPoint], description: 'One point per bucket.', resolve: ({ points }) => points }),
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
      range: t.arg({
        type: TimeRange,
        required: true,
        description: 'The first bucket is the one that contains since.',
      }),
      bucket: t.arg({ type: Bucket, required: true, description: 'The interval of each point.' }),
      metrics: t.arg({ type: [Metric], required: true, description: 'The metrics to return, each as its own series.' }),
      groupBy: t.arg({ type: StatDimension, description: 'The property to group by. Default: no groups.' }),
      top: t.arg.int({ description: 'Number of groups that get their own series. Default: 10, maximum: 30.' }),
      reach: reachArg(t),
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
