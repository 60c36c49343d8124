import type { Sql } from '@postrider/db';
import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { objectName, timeField } from '../fields/wire.ts';
import { accessField, accessibleSide } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { bucketMs, bucketRange, pointSchema, rangeFields, readRollUpState } from '../stats/index.ts';
import { RETENTION } from './roll-up.ts';
import { type FailureKind, failureKinds, failureSignature, replyKind } from './signature.ts';
import { destinationsOf, type FailureQuery, knownGroups, type TopGroup, topGroups, trendsOf } from './store.ts';

const MAX_GROUPS = 100;
const DEFAULT_GROUPS = 20;
const MAX_REPLIES = 1000;
const DESTINATIONS_SHOWN = 5;
const bounds = {
  minute: { most: 120, kept_days: RETENTION.minute_days },
  hour: { most: 24 * 7 + 1, kept_days: RETENTION.hour_days },
  day: { most: RETENTION.hour_days + 2, kept_days: RETENTION.hour_days },
} as const;
/** Maximum number of trend points of one group. */
export const MAX_TREND_POINTS = Math.max(bounds.minute.most, bounds.hour.most, bounds.day.most);

const failureGroupSchema = z.object({
  id: z.string(),
  signature: z.string().meta({ description: 'The reply stripped of numbers, addresses, IDs, hosts and URLs.' }),
  kind: z.enum(failureKinds),
  code: z.int().nullable(),
  enhanced_code: z.string().nullable(),
  sample: z.string().meta({ description: 'The latest counted reply, verbatim.' }),
  count: z.int(),
  destinations: z.array(z.string()).readonly().meta({ description: 'The most frequent destinations.' }),
  first_seen_at: timeField,
  last_seen_at: timeField,
  trend: z.array(pointSchema).readonly(),
});
const failureGroupsSchema = z.object({
  object: objectName('list'),
  bucket: z.enum(['minute', 'hour', 'day']),
  since: timeField,
  until: timeField,
  complete_until: timeField.meta({ description: 'Failures after this are not counted yet.' }),
  data: z.array(failureGroupSchema).readonly(),
});
export type FailureGroups = z.output<typeof failureGroupsSchema>;
export type FailureGroup = FailureGroups['data'][number];

/**
 * Returns groups of similar failures, most frequent first. Every failed attempt counts, even if a later one succeeded.
 */
export const failureGroups = operation({
  name: 'failures.groups',
  scope: null,
  summary: 'Groups of similar failures, in the workspace or, for operators, in the whole instance',
  input: z.object({
    ...rangeFields,
    kind: z.enum(failureKinds).default('smtp'),
    top: z.int().min(1).max(MAX_GROUPS).default(DEFAULT_GROUPS),
    reach: accessField,
  }),
  output: failureGroupsSchema,
  async run(ctx, { kind, top, reach, ...range }): Promise<FailureGroups> {
    const workspace_id = accessibleSide(ctx, reach);
    const { now, until } = await readRollUpState(ctx.sql, 'failures');
    const bucket = bucketFor(range.since, range.until ?? now, now);
    const { from, to, bucket_ms } = bucketRange(range, bucket, bounds[bucket], now);
    const filter = { workspace_id, kind, bucket, from, to };
    const groups = await topGroups(ctx.sql, filter, top);
    return {
      object: 'list',
      bucket,
      since: isoTime(from),
      until: isoTime(to),
      complete_until: isoTime(until),
      data: await described(
        ctx.sql,
        filter,
        groups.map((group) => ({ ...group, kind })),
        bucket_ms,
      ),
    };
  },
});

/** Returns the groups of the given replies, counted over the last day; null for those not counted yet. */
export const readFailureGroups = operation({
  name: 'failures.of_replies',
  scope: 'admin',
  summary: 'The failure groups of given replies',
  input: z.object({ ids: z.array(z.string()).max(MAX_REPLIES).meta({ description: 'Replies, verbatim.' }) }),
  output: z.array(failureGroupSchema.nullable()).readonly(),
  async run(ctx, { ids: replies }): Promise<readonly (FailureGroup | null)[]> {
    const group_ids = replies.map((reply) => failureSignature(reply, replyKind(reply)).id);
    const { now } = await readRollUpState(ctx.sql, 'failures');
    const since = new Date(now.getTime() - bucketMs.day);
    const { from, to, bucket_ms } = bucketRange({ since }, 'hour', bounds.hour, now);
    const filter = { workspace_id: ctx.actor.workspace_id, kind: null, bucket: 'hour', from, to } as const;
    const known = await knownGroups(ctx.sql, filter, [...new Set(group_ids)]);
    const groups = await described(ctx.sql, filter, known, bucket_ms);
    const by_id = new Map(groups.map((group) => [group.id, group]));
    return group_ids.map((id) => by_id.get(id) ?? null);
  },
});

/** Adds destinations and trend to groups. */
async function described(
  sql: Sql,
  filter: FailureQuery,
  groups: readonly (TopGroup & { readonly kind: FailureKind })[],
  bucket_ms: number,
): Promise<FailureGroup[]> {
  if (groups.length === 0) return [];
  const ids = groups.map((group) => group.id);
  const [trends, destinations] = await Promise.all([
    trendsOf(sql, filter, ids),
    destinationsOf(sql, filter, ids, DESTINATIONS_SHOWN),
  ]);
  const counts = new Map(trends.map(({ id, at, count }) => [`${id} ${at.getTime()}`, count]));
  const places = new Map(destinations.map((row) => [row.id, row.destinations]));
  const times = Array.from(
    { length: (filter.to.getTime() - filter.from.getTime()) / bucket_ms },
    (_, index) => filter.from.getTime() + index * bucket_ms,
  );
  return groups.map((group) => ({
    ...group,
    destinations: places.get(group.id) ?? [],
    first_seen_at: isoTime(group.first_seen_at),
    last_seen_at: isoTime(group.last_seen_at),
    trend: times.map((at) => ({ at: isoTime(at), value: counts.get(`${group.id} ${at}`) ?? 0 })),
  }));
}

/** Returns the bucket size: minutes for the one or two hours they are retained, hours for up to a week, days beyond. */
function bucketFor(since: Date, until: Date, now: Date): 'minute' | 'hour' | 'day' {
  const range_ms = until.getTime() - since.getTime();
  const by_minute = now.getTime() - since.getTime() < bounds.minute.kept_days * bucketMs.day;
  if (by_minute && range_ms <= (bounds.minute.most - 1) * bucketMs.minute) return 'minute';
  return range_ms <= (bounds.hour.most - 1) * bucketMs.hour ? 'hour' : 'day';
}
