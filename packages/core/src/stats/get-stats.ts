import { z } from 'zod';
import { timestampField } from '../fields/timestamp-field.ts';
import { operation } from '../operation/operation.ts';
import { buckets, DEFAULT_SERIES, type Stats, statsOf, statsSchema } from './stat-series.ts';

// One minute less than a day: both ends are rounded to whole minutes, and no response spans more minutes than a day
// has.
const DEFAULT_MS = 86_340_000;
const metrics = [
  'accepted',
  'delivered',
  'captured',
  'relayed',
  'bounced',
  'deferred',
  'failed',
  'complained',
] as const;

/** Returns the results of a workspace's messages over time, counted by recipient. */
export const getStats = operation({
  name: 'stats.get',
  scope: 'email:logs:read',
  replica: true,
  summary: 'Get email outcomes over time, by domain, tag, destination or transport',
  reasons: ['invalid_timestamp', 'invalid_range', 'query_too_complex'],
  input: z.object({
    since: timestampField('since').optional().meta({ description: 'At or after this time. Default: 24 hours ago.' }),
    until: timestampField('until').optional().meta({ description: 'Before this time. Default: now.' }),
    step: z.enum(buckets).default('hour').meta({ description: 'Interval of each point.' }),
    group_by: z.enum(['domain', 'tag', 'destination', 'transport']).optional().meta({
      description:
        'Groups outcomes by sending domain, tag, recipient domain or transport. The ten busiest groups get their own series.',
    }),
  }),
  output: statsSchema,
  run(ctx, { since, until, step, group_by }): Promise<Stats> {
    return statsOf(ctx.sql, ctx.actor.workspace_id, {
      since: since ?? new Date((until?.getTime() ?? ctx.clock.now()) - DEFAULT_MS),
      until,
      bucket: step,
      metrics,
      group_by: group_by ?? 'none',
      top: DEFAULT_SERIES,
    });
  },
});
