import { planNormally } from '@postrider/db';
import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import { closedReasons } from '../lanes/index.ts';
import { accessField, accessibleSide } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { operation } from '../operation/operation.ts';
import {
  type BacklogCount,
  type BacklogDimension,
  BUCKET_MINUTES,
  backlogDimensions,
  type CountedRow,
  countNow,
  factsOf,
  isSmall,
  lastCount,
  MAX_KEYS,
  type RowFacts,
} from './store.ts';

const DEFAULT_KEYS = 20;
/**
 * Up to this many open recipients are counted per request, in about 100 ms; above that, the periodic count is returned.
 */
const MAX_COUNTED_NOW = 10_000;

const KEY =
  'A value of the dimension; empty for the total. For transport, that of the lane in which the email waits, or else of its last attempt. Email without a value counts in the total only.';
const backlogRowSchema = z.object({
  key: z.string().meta({ description: KEY }),
  total: z.int(),
  counts: z.array(z.int()).readonly().meta({ description: 'By age. bucket_upper_minutes has the upper bounds.' }),
  oldest_seconds: z.number().nullable(),
  last_reply: z.string().nullable().meta({ description: 'For the most recently attempted email.' }),
  last_success_at: timeField.nullable(),
  closed_until: timeField.nullable().meta({ description: 'Set while the destination is closed.' }),
  closed_reason: z.enum(closedReasons).nullable(),
  hold: z
    .object({ id: idField(idPrefixes.hold), reason: z.string(), expires_at: timeField })
    .nullable()
    .meta({ description: 'The hold on the destination, sending domain or key.' }),
});
const backlogSchema = z.object({
  object: objectName('backlog'),
  dimension: z.enum(backlogDimensions),
  bucket_upper_minutes: z
    .array(z.int().nullable())
    .readonly()
    .meta({ description: 'null: the last bucket is unbounded.' }),
  rows: z.array(backlogRowSchema).readonly(),
  total: backlogRowSchema,
  measured_at: timeField,
});
export type Backlog = z.output<typeof backlogSchema>;
export type BacklogRow = Backlog['total'];

/**
 * Returns waiting recipients by dimension and age, counted from when they were first due or first tried. Scheduled
 * messages are not part of the backlog.
 */
export const getBacklog = operation({
  name: 'backlog.get',
  scope: null,
  summary: 'Waiting recipients by age, in the workspace or (operators only) the instance',
  input: z.object({
    by: z.enum(backlogDimensions).default('destination'),
    top: z.int().min(1).max(MAX_KEYS).default(DEFAULT_KEYS),
    reach: accessField,
  }),
  output: backlogSchema,
  run: (ctx, { by, top, reach }): Promise<Backlog> => backlogOf(ctx, by, accessibleSide(ctx, reach), top),
});

/** Returns the backlog of a workspace or, with an empty id, of the instance. */
export async function backlogOf(
  ctx: ActorContext,
  dimension: BacklogDimension,
  workspace_id: string,
  top: number,
): Promise<Backlog> {
  const counts = await count(ctx, dimension, workspace_id, top);
  const facts = await factsOf(ctx.sql, dimension, workspace_id, counts.rows);
  return {
    object: 'backlog',
    dimension,
    bucket_upper_minutes: [...BUCKET_MINUTES, null],
    rows: counts.rows.map((row) => rowOf(row, counts, facts.get(row.key))),
    total: rowOf(counts.total, counts, undefined),
    measured_at: isoTime(counts.measured_at),
  };
}

async function count(
  { sql }: ActorContext,
  dimension: BacklogDimension,
  workspace_id: string,
  top: number,
): Promise<BacklogCount> {
  const counts = (await isSmall(sql, MAX_COUNTED_NOW)) ? null : await lastCount(sql, dimension, workspace_id, top);
  if (counts) return counts;
  // Few recipients are open, or no worker has counted yet.
  return sql.begin(async (tx) => {
    await planNormally(tx);
    return countNow(tx, dimension, workspace_id, top);
  });
}

function rowOf(row: CountedRow, { measured_at }: BacklogCount, facts: RowFacts | undefined): BacklogRow {
  return {
    key: row.key,
    total: row.total,
    counts: row.counts,
    oldest_seconds: row.oldest_at ? Math.max(0, (measured_at.getTime() - row.oldest_at.getTime()) / 1000) : null,
    last_reply: facts?.last_reply ?? null,
    last_success_at: facts?.last_success_at ? isoTime(facts.last_success_at) : null,
    closed_until: facts?.closed_until ? isoTime(facts.closed_until) : null,
    closed_reason: facts?.closed_reason ?? null,
    hold: holdOf(facts),
  };
}

function holdOf(facts: RowFacts | undefined): BacklogRow['hold'] {
  if (!facts?.hold_id || !facts.hold_expires_at) return null;
  return { id: facts.hold_id, reason: facts.hold_reason ?? '', expires_at: isoTime(facts.hold_expires_at) };
}
