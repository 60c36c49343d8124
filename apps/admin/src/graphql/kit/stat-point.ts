import { buckets } from '@postrider/core/stats';
import { builder } from './builder.ts';
import { enumOf } from './enums.ts';

export interface StatPointShape {
  readonly at: string;
  readonly value: number | null;
}

export const StatPoint = builder.objectRef<StatPointShape>('StatPoint').implement({
  description: 'One value of a time series.',
  fields: (t) => ({
    at: t.field({ type: 'DateTime', description: 'The start of the bucket.', resolve: ({ at }) => at }),
    value: t.exposeFloat('value', { nullable: true, description: 'The value in the bucket; null: no data.' }),
  }),
});

export const Bucket = enumOf('Bucket', buckets, 'Buckets begin at a full UTC minute, hour or day.');
