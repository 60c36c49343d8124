import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { objectName, timeField } from '../fields/wire.ts';
import type { ActorContext } from '../operation/context.ts';
import { bounds, buckets, pointSchema } from './stat-series.ts';
import { bucketsOf, readRollUpState } from './store.ts';
import { bucketRange, rangeFields } from './time-range.ts';

export const keyUsageFields = { ...rangeFields, bucket: z.enum(buckets).default('day') };

export const keyUsageSchema = z
  .object({
    object: objectName('api_key_usage'),
    key_id: z.string(),
    bucket: z.enum(buckets),
    since: timeField,
    until: timeField,
    complete_until: timeField.meta({ description: 'Data after this time is not complete yet.' }),
    accepted: z.int().meta({ description: 'Recipients of email sent with this key in the interval.' }),
    points: z.array(pointSchema).readonly(),
  })
  .meta({ id: 'ApiKeyUsage' });
export type KeyUsage = z.output<typeof keyUsageSchema>;

type KeyUsageInput = z.output<z.ZodObject<typeof keyUsageFields>>;

/**
 * Returns how much each of these keys of a workspace has sent, in the given order. In a busy minute or hour only the
 * busiest keys are counted separately, so a quiet key may have sent slightly more.
 */
export async function readUsageByKey(
  { sql, actor }: Pick<ActorContext, 'sql' | 'actor'>,
  key_ids: readonly string[],
  { bucket, ...range }: KeyUsageInput,
): Promise<KeyUsage[]> {
  const { now, until } = await readRollUpState(sql, 'stats');
  const { from, to, bucket_ms } = bucketRange(range, bucket, bounds.grouped[bucket], now);
  const rows = await bucketsOf(sql, {
    workspace_id: actor.workspace_id,
    dimension: 'api_key',
    bucket,
    from,
    to,
    histograms: false,
    keys: key_ids,
  });
  const by_key = Map.groupBy(rows, (row) => row.key);
  return key_ids.map((key_id) => {
    const at = new Map((by_key.get(key_id) ?? []).map((row) => [row.at.getTime(), row.accepted]));
    const points: { at: string; value: number }[] = [];
    for (let ms = from.getTime(); ms < to.getTime(); ms += bucket_ms)
      points.push({ at: isoTime(ms), value: at.get(ms) ?? 0 });
    return {
      object: 'api_key_usage' as const,
      key_id,
      bucket,
      since: isoTime(from),
      until: isoTime(to),
      complete_until: isoTime(until),
      accepted: points.reduce((sum, { value }) => sum + value, 0),
      points,
    };
  });
}
