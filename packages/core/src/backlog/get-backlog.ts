import { z } from 'zod';
import { isoTime } from '../clock.ts';
import type { ActorContext } from '../context.ts';
import { idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { reachField, sideInReach } from '../reach.ts';
import { planFreely } from '../stats/index.ts';
import { idField, timeField } from '../wire.ts';
import {
  type BacklogDimension,
  BUCKET_MINUTES,
  backlogDimensions,
  type Counted,
  type CountedRow,
  countNow,
  factsOf,
  isSmall,
  lastCount,
  MOST_KEYS,
  type RowFacts,
} from './store.ts';

const USUAL_KEYS = 20;
/** Up to so many open recipients whoever asks counts them, in some 100 ms; a chore counts more. */
const MOST_COUNTED_NOW = 10_000;

const backlogRowSchema = z.object({
  key: z.string().meta({ description: 'Empty in the total.' }),
  total: z.int(),
  counts: z.array(z.int()).readonly().meta({ description: 'By age; bucket_upper_minutes names the ends.' }),
  oldest_seconds: z.number().nullable(),
  last_reply: z.string().nullable().meta({ description: 'To the newest mail that has been tried.' }),
  last_success_at: timeField.nullable(),
  closed_until: timeField.nullable().meta({ description: 'Of a destination that is not sent to just now.' }),
  closed_reason: z.enum(['failing', 'limit']).nullable(),
  hold: z
    .object({ id: idField(idPrefixes.hold), reason: z.string(), expires_at: timeField })
    .nullable()
    .meta({ description: 'What keeps back a destination, a sending domain or a key.' }),
});
const backlogSchema = z.object({
  object: z.literal('backlog'),
  dimension: z.enum(backlogDimensions),
  bucket_upper_minutes: z.array(z.int().nullable()).readonly().meta({ description: 'null: the last has no end.' }),
  rows: z.array(backlogRowSchema).readonly(),
  total: backlogRowSchema,
  measured_at: timeField,
});
export type Backlog = z.output<typeof backlogSchema>;
export type BacklogRow = Backlog['total'];

/**
 * Recipients that wait, by what they have in common and by how long they have waited: since they were due first, or
 * since their first attempt. What is scheduled for later is no backlog.
 */
export const getBacklog = operation({
  name: 'backlog.get',
  scope: null,
  summary: 'Recipients that wait, by age, in the workspace or, for operators, in the whole instance',
  input: z.object({
    by: z.enum(backlogDimensions).default('destination'),
    top: z.int().min(1).max(MOST_KEYS).default(USUAL_KEYS),
    reach: reachField,
  }),
  output: backlogSchema,
  async run(ctx, { by, top, reach }): Promise<Backlog> {
    const workspace_id = sideInReach(ctx, reach);
    const counted = await count(ctx, by, workspace_id, top);
    const facts = await factsOf(ctx.sql, by, workspace_id, counted.rows);
    return {
      object: 'backlog',
      dimension: by,
      bucket_upper_minutes: [...BUCKET_MINUTES, null],
      rows: counted.rows.map((row) => rowOf(row, counted, facts.get(row.key))),
      total: rowOf(counted.total, counted, undefined),
      measured_at: isoTime(counted.measured_at),
    };
  },
});

async function count({ sql }: ActorContext, by: BacklogDimension, workspace_id: string, top: number): Promise<Counted> {
  const counted = (await isSmall(sql, MOST_COUNTED_NOW)) ? null : await lastCount(sql, by, workspace_id, top);
  if (counted) return counted;
  // Few are open, or no worker has counted yet.
  return sql.begin(async (tx) => {
    await planFreely(tx);
    return countNow(tx, by, workspace_id, top);
  });
}

function rowOf(row: CountedRow, { measured_at }: Counted, facts: RowFacts | undefined): BacklogRow {
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
